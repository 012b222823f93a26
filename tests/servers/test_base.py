"""What every server does: scripts, records, hangs, stopping."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.servers.asking import BASE_TIMEOUT, post
from tests.servers.openai_chat import OpenAIChatServer
from tests.servers.replies import Reply, hang, raw, text

PATH = "/v1/chat/completions"
BODY = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}


def test_a_script_may_be_a_function_of_the_body() -> None:
    with OpenAIChatServer(lambda body: text(body["messages"][-1]["content"].upper())) as server:
        assert post(server, PATH, BODY).body["choices"][0]["message"]["content"] == "HI"


def test_a_script_that_has_run_out_or_fails_is_told_at_the_end() -> None:
    with pytest.raises(AssertionError, match="no answer to request 1"), OpenAIChatServer([]) as server:
        assert post(server, PATH, BODY).status == 500

    def failing(_: Any) -> Reply:
        raise LookupError("no such page in the script")

    with pytest.raises(LookupError), OpenAIChatServer(failing) as server:
        assert post(server, PATH, BODY).status == 500


def test_refused_requests_use_up_nothing_of_the_script() -> None:
    with OpenAIChatServer(["first"]) as server:
        assert post(server, PATH, {**BODY, "messages": []}).status == 400
        assert post(server, PATH, BODY).status == 200
        assert str(server.refused[0]).startswith("400: Invalid 'messages': empty array.")
        assert len(server.requests) == 2
        assert len(server.turns) == 1
        assert server.paths == [f"POST {PATH}"] * 2


def test_an_answer_can_be_given_byte_for_byte() -> None:
    with OpenAIChatServer([raw(418, b"{}", x_note="tea")]) as server:
        given = post(server, PATH, BODY)
        assert (given.status, given.text, given.headers["x-note"]) == (418, "{}", "tea")


def test_a_body_that_is_not_json_is_refused() -> None:
    with OpenAIChatServer([]) as server:
        assert post(server, PATH, b"{").status == 400
        assert post(server, PATH, b"[]").status == 400


@pytest.mark.parametrize("is_released", [True, False])
def test_a_hang_ends_when_it_is_released_or_the_server_stops(is_released: bool) -> None:
    with ThreadPoolExecutor(1) as pool:
        with OpenAIChatServer([hang("half a reply")]) as server:
            asked = pool.submit(post, server, PATH, {**BODY, "stream": True})
            assert server.hanging.wait(BASE_TIMEOUT)
            assert not asked.done()
            if is_released:
                server.release()
                assert asked.exception(BASE_TIMEOUT)
        assert asked.exception(BASE_TIMEOUT)


def test_requests_can_be_waited_for() -> None:
    with ThreadPoolExecutor(3) as pool, OpenAIChatServer(lambda _: text("ok")) as server:
        asked = [pool.submit(post, server, PATH, BODY) for _ in range(3)]
        server.wait_for_requests(3)
        assert [answer.result(BASE_TIMEOUT).status for answer in asked] == [200] * 3


def test_a_stopped_server_leaves_no_thread_and_no_port() -> None:
    before = threading.active_count()
    with OpenAIChatServer(["ok"]) as server:
        assert post(server, PATH, BODY).status == 200
    with pytest.raises(ConnectionRefusedError):
        post(server, PATH, BODY)
    assert threading.active_count() <= before


def test_a_request_that_is_given_up_while_it_is_sent_is_none() -> None:
    with OpenAIChatServer([text("one")]) as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), BASE_TIMEOUT) as connection:
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 90\r\n\r\n{")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == b""
        assert server.refused == []
        assert post(server, PATH, BODY).status == 200
