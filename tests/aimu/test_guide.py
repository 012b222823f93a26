"""What the guide of the plain functions prints, figure by figure, on conversations of the same sizes."""

import aimu
from tests.aimu.fakes import TextModel
from tests.aimu.talk import assistant, call, result, system, user


def twelve_and_instructions():
    """Messages as long as the guide's: 20 characters of instructions, six times 55 and 50."""
    said = [m for n in range(6) for m in (user(f"{n}" + "q" * 54), assistant(f"{n}" + "a" * 49))]
    return [system("s" * 20), *said]


def two_turns_with_tools():
    """Two exchanges, each with a call and its result."""
    return [
        system("Answer with the help of the tools."),
        user("How warm will it be in Lisbon tomorrow at noon?"),
        call("c1", name="forecast", arguments='{"city": "Lisbon"}'),
        result("c1", "noon: 24 degrees, light wind from the north"),
        assistant("About 24 degrees."),
        user("And in Porto?"),
        call("c2", name="forecast", arguments='{"city": "Porto"}'),
        result("c2", "noon: 21 degrees, clouds"),
        assistant("About 21 degrees."),
    ]


def roles(messages):
    return [message["role"] for message in messages]


def test_eleven_characters_of_a_user_are_ten_tokens():
    assert aimu.count_tokens([user("elevenchars")]) == 10


def test_a_real_tokenizer_may_count():
    assert aimu.count_tokens([user("one two three")], counter=lambda text: len(text.split())) == 6


def test_nine_of_ten_go_to_get_under_eighty_and_the_tenth_to_get_under_sixty():
    messages = twelve_and_instructions()
    assert aimu.count_tokens(messages) == 274
    trimmed = aimu.trim_messages(messages, max_tokens=80, keep_last=2)
    assert aimu.count_tokens(trimmed) == 78
    assert roles(trimmed) == ["system", "assistant", "user", "assistant"]
    assert trimmed == [messages[0], *messages[-3:]]
    tighter = aimu.trim_messages(messages, max_tokens=60, keep_last=2)
    assert aimu.count_tokens(tighter) == 56
    assert tighter == [messages[0], *messages[-2:]]
    assert len(messages) == 13


def test_a_call_goes_with_its_result_and_a_later_one_survives_whole():
    messages = two_turns_with_tools()
    assert roles(messages) == [
        "system",
        "user",
        *["assistant", "tool", "assistant"],
        "user",
        *["assistant", "tool", "assistant"],
    ]
    trimmed = aimu.trim_messages(messages, max_tokens=150, keep_last=1)
    assert roles(trimmed) == ["system", "assistant", "user", "assistant", "tool", "assistant"]
    assert trimmed[3:5] == messages[6:8]


def test_a_summary_stands_before_the_tail_which_is_as_it_was():
    messages = [user("I like green."), assistant("Green it is."), user("Three times three?"), assistant("9")]
    found = aimu.summarize_messages(TextModel("The user likes green."), messages, keep_last=2)
    assert [(m["role"], m["content"]) for m in found] == [
        ("system", "Summary of earlier conversation:\nThe user likes green."),
        ("user", "Three times three?"),
        ("assistant", "9"),
    ]
    assert found[1] is messages[2]
