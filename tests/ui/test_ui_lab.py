"""The attention lab: what the page is told, and the page in a real Chromium."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from browsers import faults_on, opened
from musicgen.pipeline.lesson import printed_lesson, sentence_lesson
from musicgen.ui import lab_strings as strings
from musicgen.ui import training_strings
from musicgen.ui.lab import View, on_page

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PRINTED = {
    "scores": "0.2334 0.1385 −0.1305 0.2664 0.2916 0.1044 0.0095 0.0993 "
    "0.8250 0.2454 0.0214 0.8667 −0.1557 0.2034 0.2172 −0.2740",
    "weights": "1.0000 0.0000 0.0000 0.0000 0.5467 0.4533 0.0000 0.0000 "
    "0.4980 0.2790 0.2230 0.0000 0.2095 0.3001 0.3042 0.1862",
}


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_page_is_told_the_printed_figures():
    told = on_page(View(lesson=printed_lesson(), kind="printed", head=0))
    steps = {step["name"]: step for step in told["steps"]}
    for name, figures in PRINTED.items():
        assert strings.AS_PRINTED in steps[name]["text"]
        assert " ".join(map(" ".join, steps[name]["tables"][0]["text"])) == figures
    another = on_page(View(lesson=printed_lesson(), kind="printed", head=1))
    assert strings.AS_PRINTED not in str(another)


@pytest.mark.parametrize("causal", [True, False])
def test_every_number_tells_the_sum_that_made_it(causal):
    """Guards: a story whose products are those of another number."""
    lesson = sentence_lesson("How are you, you?", d_model=32, n_heads=4, causal=causal)
    told = on_page(View(lesson=lesson, kind="sentence", head=2))
    json.dumps(told, allow_nan=False)
    checked = 0
    for step in told["steps"]:
        for table in step["tables"]:
            for texts, stories in zip(table["text"], table["stories"], strict=False):
                for text, story in zip(texts, stories, strict=True):
                    said = story["say"].rsplit(" = ", 1)[1]
                    assert text == "−∞" or number(text) == pytest.approx(number(said), abs=6e-4)
                    if "terms" not in story:
                        continue
                    total = sum(number(product) for *_, product in story["terms"])
                    total += number(story["rest"].rsplit(" ", 1)[1]) if story["rest"] else 0
                    shrink = 8**0.5 if step["name"] == "scores" else 1
                    assert total / shrink == pytest.approx(number(said), abs=1e-3)
                    checked += 1
    assert checked > 100


def test_words_that_come_twice_are_told_apart():
    lesson = sentence_lesson("you and you")
    view = View(lesson=lesson, kind="sentence", head=0)
    assert view.names == ["you (0)", "and", "you (2)"]


@pytest.fixture(scope="module")
def page(chromium: str, app_url: str) -> Iterator[Page]:
    browsers = opened(chromium, [])
    page = next(browsers).new_context(viewport={"width": 1360, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    faults = faults_on(page)
    page.goto(
        f"{app_url}/lab"
    )  # by its own address: an error in the console until it was told more
    page.locator(".mg-lab h2").wait_for()
    yield page
    next(browsers, None)
    assert faults == []


def cells(page: Page, table: int = 0) -> Locator:
    return page.locator(".mg-lab table").nth(table).locator("td[data-at]")


def step(page: Page, name: str) -> None:
    page.locator(".mg-lab ol button").get_by_text(strings.STEPS[name][0], exact=True).click()
    page.locator(".mg-lab h2").get_by_text(strings.STEPS[name][1], exact=True).wait_for()


def look_at(page: Page, kind: str) -> None:
    page.get_by_role("radio", name=strings.KINDS[kind]).click()


@pytest.mark.browser
def test_keys_go_through_steps_and_numbers(page):
    page.locator(".mg-lab ol button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("p")
    heading = page.locator(".mg-lab h2")
    assert heading.inner_text() == strings.STEPS["qkv"][1]
    cells(page).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    story = page.locator(".mg-lab .story")
    assert story.locator("strong").inner_text().startswith("Query Q, are, 7 = ")
    assert story.locator("li").count() == 7  # six products, and the others in one sum
    page.keyboard.press("n")
    assert heading.evaluate("e => e === e.getRootNode().activeElement")
    cells(page).nth(5).focus()
    assert page.locator(".mg-lab td.lit").count() == 16  # a query and a key
    assert page.locator(".mg-lab table").first.get_by_role("columnheader").count() == 4
    page.keyboard.press("Escape")
    assert page.locator(".mg-lab td.lit").count() == 0


@pytest.mark.browser
def test_a_hostile_sentence_is_only_words(page):
    """Guards: S04 again. Input is text, also where a row, a story and a title name it."""
    look_at(page, "sentence")
    step(page, "weights")
    field = page.get_by_role("textbox", name=strings.YOUR_SENTENCE)
    field.fill("<img src=x onerror=alert(1)> <b>")
    field.press("Enter")
    page.locator(".mg-lab th").get_by_text("onerror").first.wait_for()
    assert page.locator(".mg-lab img, .mg-lab b").count() == 0
    assert cells(page).count() == 144  # at most 12 tokens
    field.fill("   ")
    field.press("Enter")
    page.get_by_text("There is no word").wait_for()
    field.fill("Who are you?")
    field.press("Enter")
    page.locator(".mg-lab th").get_by_text("who", exact=True).first.wait_for()
    assert page.locator(".mg-lab h2").inner_text() == strings.STEPS["weights"][1]


@pytest.mark.browser
def test_a_sentence_outlives_a_look_elsewhere(page):
    """Guards: a widget that is not drawn for once, and forgets what it held."""
    look_at(page, "sentence")
    field = page.get_by_role("textbox", name=strings.YOUR_SENTENCE)
    field.fill("Where are you?")
    field.press("Enter")
    page.locator(".mg-lab").get_by_text("where", exact=True).first.wait_for()
    look_at(page, "printed")
    page.locator(".mg-lab").get_by_text("x₀").first.wait_for(state="attached")
    page.get_by_role("link", name=training_strings.TRAIN).click()
    page.get_by_role("heading", name=training_strings.TRAIN, level=1).wait_for()
    page.get_by_role("link", name=strings.LAB).click()
    page.locator(".mg-lab").get_by_text("x₀").first.wait_for(state="attached")
    look_at(page, "sentence")
    page.locator(".mg-lab").get_by_text("where", exact=True).first.wait_for(state="attached")
    assert field.input_value() == "Where are you?"


@pytest.mark.browser
def test_a_reload_finds_the_step_and_the_sentence(page):
    """Guards: a sentence, a mask and a step that are gone with the page."""
    look_at(page, "sentence")
    field = page.get_by_role("textbox", name=strings.YOUR_SENTENCE)
    field.fill("Here you are!")
    field.press("Enter")
    step(page, "scores")
    page.wait_for_url("**/lab?*step=scores*text=Here+you+are%21*")
    page.reload()
    page.locator(".mg-lab h2").get_by_text(strings.STEPS["scores"][1], exact=True).wait_for()
    assert field.input_value() == "Here you are!"


@pytest.mark.browser
def test_the_printed_figures_and_what_leaks_without_the_mask(page):
    look_at(page, "printed")
    page.locator(".mg-lab th").get_by_text("x₀").first.wait_for()
    for name, figures in PRINTED.items():
        step(page, name)
        shown = [text.split(",")[0].strip() for text in cells(page).all_inner_texts()]
        assert shown == figures.split()
    page.get_by_role("button", name="Head 7", exact=True).click()
    page.locator(".mg-lab [data-head='6'][aria-pressed=true]").wait_for()
    assert page.get_by_role("spinbutton", name=strings.HEAD).input_value() == "7"
    assert page.locator(".mg-lab [data-above=masked]").count() == 6
    page.get_by_text(strings.MASK, exact=True).click()
    page.locator(".mg-lab [data-above=future]").first.wait_for()
    page.locator(".mg-lab").get_by_text("of this head's weight lies on later tokens").wait_for()
    page.get_by_text(strings.MASK, exact=True).click()
    page.locator(".mg-lab [data-above=masked]").first.wait_for()


@pytest.mark.browser
def test_music_through_the_models_own_layer(page):
    look_at(page, "music")
    page.get_by_role("slider", name=strings.EVENTS).wait_for()
    step(page, "turn")
    assert page.locator(".mg-lab thead th").count() == 16
    step(page, "weights")
    assert cells(page).count() == 49  # the start and six events
    page.get_by_text(strings.MASK, exact=True).click()
    page.locator(".mg-lab").get_by_text("bits for each next event").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(300)
    assert page.locator(".stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
