"""Stand-ins for models: one that answers prompts, one that keeps a conversation like `aimu.models.BaseModelClient`."""

from aaa.messages import Usage

__all__ = ["ScriptedClient", "TextModel"]


class TextModel:
    """Answers prompts with `replies`, one after the other, the last one for ever; an exception is raised."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.prompts = []

    def generate(self, prompt):
        self.prompts.append(prompt)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, BaseException):
            raise reply
        return reply


class ScriptedClient:
    """A conversation with a model that says `replies`: texts, whole dicts, exceptions, functions of what was sent."""

    def __init__(self, *replies, system=None):
        self.replies = list(replies)
        self.messages = []
        self.system = system
        self.generate_kwargs = {}
        self.last_usage = None
        self.last_finish_reason = None
        self.sent = []
        self.tools = []

    def chat(self, user_message=None, *, tools=()):
        added = [] if user_message is None else [{"role": "user", "content": user_message}]
        has_system = any(message["role"] == "system" for message in self.messages)
        head = [] if has_system or self.system is None else [{"role": "system", "content": self.system}]
        reply = self._reply([*head, *self.messages, *added], tools)
        self.messages[:0] = head
        self.messages += [*added, reply]
        return reply

    def generate(self, prompt):
        return self._reply([{"role": "user", "content": prompt}], ())["content"]

    def _reply(self, sent, tools):
        self.sent.append([dict(message) for message in sent])
        self.tools.append([tool.name for tool in tools])
        reply = self.replies.pop(0)
        if callable(reply):
            reply = reply(sent)
        if isinstance(reply, BaseException):
            raise reply
        reply = {"role": "assistant", "content": reply} if isinstance(reply, str) else dict(reply)
        self.last_finish_reason = reply.pop("finish_reason", "tool_calls" if reply.get("tool_calls") else "stop")
        self.last_usage = Usage(10, 5)
        return reply
