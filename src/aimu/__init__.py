"""The context core for plain code: synchronous functions over plain lists of dict messages.

``aaa`` manages context inside an asynchronous, durable runtime, on typed messages. Many agents are a short
loop that keeps ``messages: list[dict]`` in its provider's own format and calls the provider directly. This
package is for them: the same counting, the same strategies and the same guarantees (the prompt fits, calls
stay with their results, the head stays), as functions that take such a list and return a new one.

It holds no logic of its own that ``aaa`` has too, and ``aaa`` never imports it::

    your loop  ->  aimu (list[dict], no async)  ->  aaa.context, aaa.wire, aaa.messages

There is nothing in it yet.
"""
