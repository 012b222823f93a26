"""The window of a model: the server's own word, else the published figure, else an error."""

import socket
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import aimu
from aaa.context import ContextPolicy
from aaa.errors import ClientSetupError
from aaa.llm import client, window_of
from tests.llm.served import PROVIDERS
from tests.servers.transport import Exchange, Listener

MODEL = "some-model"


class Documents:
    """A server that answers GET and POST with fixed documents by path, and counts what it was asked."""

    def __init__(self, documents):
        self.documents = documents
        self.asked = []

    def __enter__(self):
        self._listener = Listener(self._answer)
        self.url = self._listener.url
        return self

    def __exit__(self, *_):
        self._listener.stop()

    def _answer(self, exchange: Exchange) -> None:
        self.asked.append(exchange.path)
        document = self.documents.get(exchange.path)
        exchange.answer(404 if document is None else 200, {"error": "no"} if document is None else document)


@contextmanager
def listening(serve):
    """The address of a server that answers with `serve`."""
    listener = Listener(serve)
    try:
        yield listener.url
    finally:
        listener.stop()


def window(provider: str, documents, *, params=None, path="", model=MODEL) -> int:
    with Documents(documents) as server:
        return window_of(client(f"{provider}:{model}", base_url=server.url + path, api_key="k", params=params))(None)


@pytest.mark.parametrize(
    ("documents", "tokens"),
    [
        ({"/v1/models": {"data": [{"id": MODEL, "max_model_len": 4096}]}}, 4096),  # vLLM, SGLang
        ({"/v1/models": {"data": [{"id": MODEL, "context_window": 131072}]}}, 131072),  # Groq
        ({"/v1/models": {"data": [{"id": MODEL, "max_context_length": 32768}]}}, 32768),  # Mistral
        ({"/v1/models": [{"id": MODEL, "context_length": 8192}]}, 8192),  # Together: no envelope
        (
            {"/v1/models": {"data": [{"id": MODEL, "context_length": 9, "top_provider": {"context_length": 8}}]}},
            8,  # OpenRouter: what the provider behind it serves
        ),
        (
            {
                "/v1/models": {"data": [{"id": MODEL, "meta": {"n_ctx_train": 4096}}]},
                "/props": {"default_generation_settings": {"n_ctx": 512}},
            },
            512,  # llama-server: a slot's share
        ),
        ({"/api/v0/models": {"data": [{"id": MODEL, "loaded_context_length": 2048, "max_context_length": 9}]}}, 2048),
    ],
)
def test_a_compatible_server_is_asked_what_is_in_force(documents, tokens):
    assert window("openai", documents, path="/v1") == tokens


def gemini_says(tokens, path=""):
    """Which version of its interface is asked is the SDK's choice."""
    return {f"{path}/{version}/models/{MODEL}": {"inputTokenLimit": tokens} for version in ("v1", "v1beta")}


def test_anthropic_and_gemini_say_it_of_the_model():
    assert window("anthropic", {f"/v1/models/{MODEL}": {"max_input_tokens": 200_000}}) == 200_000
    assert window("gemini", gemini_says(1_048_576)) == 1_048_576


@pytest.mark.parametrize(
    ("documents", "params", "tokens"),
    [
        ({}, {"options": {"num_ctx": 8192}}, 8192),
        ({"/api/ps": {"models": [{"name": MODEL, "context_length": 4096}]}}, None, 4096),
        ({"/api/ps": {"models": [{"name": f"{MODEL}:latest", "context_length": 4096}]}}, None, 4096),
        ({"/api/ps": {"models": []}, "/api/show": {"parameters": "stop x\nnum_ctx      16384"}}, None, 16384),
    ],
)
def test_ollama_uses_what_is_asked_for_or_loaded_or_written_in_the_modelfile(documents, params, tokens):
    assert window("ollama", documents, params=params) == tokens


def test_ollamas_maximum_is_not_taken_for_the_window():
    documents = {"/api/show": {"model_info": {"qwen3.context_length": 40960}}}
    with pytest.raises(ClientSetupError, match="give max_input_tokens as a number"):
        window("ollama", documents, model="qwen3:8b")


def test_the_published_figure_stands_in_for_a_server_that_does_not_say():
    assert window("openai", {}, path="/v1", model="gpt-4o") == 128_000


def test_a_model_nobody_knows_is_an_error_that_asks_for_a_number():
    with pytest.raises(ClientSetupError, match="some-model is not known here; give max_input_tokens as a number"):
        window("openai", {}, path="/v1")


@pytest.mark.parametrize("entry", [{"max_model_len": 0}, {"max_model_len": "4096"}, {"max_model_len": True}, {}])
def test_a_figure_that_is_no_number_above_zero_is_none(entry):
    with pytest.raises(ClientSetupError):
        window("openai", {"/v1/models": {"data": [{"id": MODEL, **entry}, None]}}, path="/v1")


def test_a_server_is_asked_only_when_the_policy_needs_it_and_then_once():
    documents = {"/v1/models": {"data": [{"id": MODEL, "max_model_len": 4096}]}}
    with Documents(documents) as server:
        model = client(f"openai:{MODEL}", base_url=server.url + "/v1", api_key="k")
        policy = ContextPolicy(window_of(model), reserve_output=96)
        assert server.asked == []
        assert [policy.settings(MODEL).window_tokens for _ in range(3)] == [4096] * 3
        assert server.asked == ["/v1/models"]


def test_a_server_that_is_down_or_answers_nonsense_says_nothing():
    with Documents({}) as server:
        url = server.url
    model = client(f"openai:{MODEL}", base_url=url + "/v1", api_key="k")
    with pytest.raises(ClientSetupError):
        window_of(model)(None)


def test_a_model_in_this_process_knows_its_own():
    sdk = SimpleNamespace(n_ctx=lambda: 256)
    assert window_of(client("llamacpp:file.gguf", sdk=sdk))(None) == 256


def test_the_local_gemini_server_is_understood():
    served = PROVIDERS["gemini"]
    with served.server([], window=12_345, models=[MODEL]) as server:
        assert window_of(client(f"gemini:{MODEL}", base_url=server.url, api_key=server.key))(None) == 12_345


def test_a_server_behind_a_path_is_asked_below_it():
    assert window("anthropic", {f"/gateway/v1/models/{MODEL}": {"max_input_tokens": 9}}, path="/gateway") == 9
    assert window("gemini", gemini_says(9, "/gateway"), path="/gateway") == 9


def test_gemini_is_asked_of_a_model_under_its_full_name():
    assert window("gemini", gemini_says(9), model=f"models/{MODEL}") == 9


@pytest.mark.parametrize("model", ["with space", "a/b?c", "ümlaut"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_a_model_of_any_name_can_be_asked_for(provider, model):
    with pytest.raises(ClientSetupError, match="max_input_tokens"):
        window(provider, {}, model=model)


@pytest.mark.parametrize("answer", [b"[" * 100_000, b"", b"{", b"3"])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_a_server_that_answers_nonsense_does_not_know(provider, answer):
    with listening(lambda exchange: exchange.answer(200, answer)) as url:
        model = client(f"{provider}:{MODEL}", base_url=url, api_key="k")
        with pytest.raises(ClientSetupError, match="max_input_tokens"):
            window_of(model)(None)


@pytest.mark.parametrize("answer", [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"])
def test_a_server_that_does_not_speak_http_does_not_know(answer):
    with socket.create_server(("127.0.0.1", 0)) as port:

        def serve():
            for _ in range(3):
                connection, _ = port.accept()
                connection.recv(65536)
                connection.sendall(answer)
                connection.close()

        server = threading.Thread(target=serve)
        server.start()
        model = client(f"openai:{MODEL}", base_url=f"http://127.0.0.1:{port.getsockname()[1]}", api_key="k")
        with pytest.raises(ClientSetupError, match="max_input_tokens"):
            window_of(model)(None)
        server.join()


def test_the_key_follows_no_redirection_to_another_server():
    entry = {"data": [{"id": MODEL, "max_model_len": 7}]}
    with Documents({"/v1/models": entry, "/v1/list": entry}) as other:

        def elsewhere(exchange):
            exchange.answer(302, {}, {"location": f"{other.url}/v1/models"})

        with listening(elsewhere) as url:
            model = client(f"openai:{MODEL}", base_url=f"{url}/v1", api_key="k")
            with pytest.raises(ClientSetupError, match="max_input_tokens"):
                window_of(model)(None)
        assert other.asked == []


def test_ollama_is_asked_with_the_key_of_its_client():
    headers = []

    def serve(exchange):
        headers.append(exchange.headers.get("authorization"))
        exchange.answer(200, {"models": [{"name": MODEL, "context_length": 4096}]})

    with listening(serve) as url:
        assert window_of(client(f"ollama:{MODEL}", base_url=url, api_key="k"))(None) == 4096
    assert headers == ["Bearer k"]


@pytest.mark.parametrize("kwargs", [{"context_length": 777}, {"num_ctx": 777}, {"options": {"num_ctx": 777}}])
def test_the_window_that_a_synchronous_client_asks_of_ollama_is_its_window(kwargs):
    model = aimu.client(f"ollama:{MODEL}", base_url="http://127.0.0.1:9", generate_kwargs=kwargs)
    assert window_of(model)(None) == 777
