#!/usr/bin/env python3
"""Opens flame graphs in headless Chromium and uses them as a person would.

flamegraph_browser_test.py MAKE_SAMPLES [SCREENSHOT_FOLDER]
Exit status 77 (skipped) where Chromium or chromedriver is missing.
"""

import os
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import webdriver

# A frame by its name, as the picture has it: [x, y of its middle, width] or null.
FIND = """
const wanted = arguments[0];
for (const group of document.querySelectorAll(".frames g")) {
  const text = group.querySelector("text");
  const label = text && text.firstChild ? text.firstChild.textContent : "";
  if (label !== wanted) continue;
  const box = group.querySelector("rect").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2, box.width];
}
return null;
"""

VISIBLE_TEXTS = """
const seen = [];
for (const element of document.querySelectorAll("*")) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!hasText && element.localName !== "input") continue;
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.height === 0) continue;
  seen.push([element.localName, parseFloat(getComputedStyle(element).fontSize),
             element.textContent.slice(0, 40), box.left, box.right]);
}
return seen;
"""

SETTINGS = {}


def address_of(name, link=""):
    return "file://" + urllib.parse.quote(os.path.join(SETTINGS["folder"], name)) + link


class FlamegraphCase(unittest.TestCase):
    WIDTH, HEIGHT, IS_PHONE = 1280, 800, False

    @classmethod
    def setUpClass(cls):
        browsers = SETTINGS["browsers"]
        if cls.WIDTH not in browsers:
            browsers[cls.WIDTH] = webdriver.Browser(SETTINGS["programs"], cls.WIDTH, cls.HEIGHT,
                                                    cls.IS_PHONE)
        cls.browser = browsers[cls.WIDTH]

    def tearDown(self):
        faults = [entry["message"] for entry in self.browser.log() if entry["level"] == "SEVERE"]
        self.assertEqual(faults, [])
        if SETTINGS["screenshots"]:
            self.browser.save_screenshot(
                os.path.join(SETTINGS["screenshots"], f"{self.WIDTH}-{self._testMethodName}.png"))

    def find(self, name):
        return self.browser.run(FIND, name)

    def click(self, name):
        x, y, _ = self.find(name)
        self.browser.click_at(x, y)

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def link(self):
        link = urllib.parse.urlsplit(self.browser.address_now()).fragment
        return dict(urllib.parse.parse_qsl(link))


class Zoom(FlamegraphCase):
    def test_click_widens_a_frame_to_the_window_and_fits_its_text_again(self):
        self.browser.open(address_of("training.svg"))
        self.assertIsNone(self.find("torch::autograd::THPVariable_conv2d"))
        self.click("Trainer.train_step")
        self.assertGreater(self.find("Trainer.train_step")[2], 1240)
        self.assertIsNotNone(self.find("torch::autograd::THPVariable_conv2d"))

    def test_ancestors_stay_and_others_go(self):
        self.browser.open(address_of("training.svg"))
        self.click("Trainer.train_step")
        self.assertGreater(self.find("Trainer.fit")[2], 1240)
        self.assertIsNone(self.find("start_thread"))
        dimmed = self.browser.run("return document.querySelectorAll('.frames .anc').length")
        self.assertEqual(dimmed, 8)

    def test_frames_under_the_cut_are_drawn_when_zoomed_in(self):
        self.browser.open(address_of("wide.svg"))
        before = self.browser.run("return document.querySelectorAll('.frames g').length")
        self.click("ns::function_3")
        after = self.browser.run("return document.querySelectorAll('.frames g').length")
        self.assertLess(before, 200)
        self.assertGreater(after, 1000)

    def test_click_on_an_ancestor_zooms_out_to_it(self):
        self.browser.open(address_of("training.svg"))
        self.click("Trainer.train_step")
        self.click("main")
        self.assertEqual(self.link()["zoom"].split(",")[1], "main")

    def test_reset_shows_all_again(self):
        self.browser.open(address_of("training.svg"))
        width = self.find("Trainer.train_step")[2]
        self.click("Trainer.train_step")
        x, y = self.browser.run(
            "const box = document.getElementById('unzoom').getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]")
        self.browser.click_at(x, y)
        self.assertAlmostEqual(self.find("Trainer.train_step")[2], width, delta=1)
        self.assertEqual(self.link(), {})

    def test_back_returns_to_the_zoom_before(self):
        self.browser.open(address_of("training.svg"))
        self.click("Trainer.fit")
        self.click("Trainer.train_step")
        self.browser.back()
        self.assertEqual(self.link()["zoom"].split(",")[1], "Trainer.fit")
        self.assertGreater(self.find("Trainer.fit")[2], 1240)
        self.assertLess(self.find("Trainer.train_step")[2], 1240)

    def test_link_and_reload_restore_the_state(self):
        self.browser.open(address_of("training.svg"))
        self.click("Trainer.train_step")
        self.browser.press("/")
        self.browser.type("conv")
        matched = self.text("#matched")
        self.browser.reload()
        self.assertEqual(self.text("#matched"), matched)
        self.assertGreater(self.find("Trainer.train_step")[2], 1240)
        self.browser.open(address_of("inverted.svg", "#zoom=99999,Trainer.train_step"))
        self.assertGreater(self.find("Trainer.train_step")[2], 1240)

    def test_unknown_links_show_all(self):
        self.browser.open(address_of("training.svg", "#zoom=-1,%3Cb%3E&search=&what=1"))
        self.assertGreater(self.find("all")[2], 1240)

    def test_deep_graphs_zoom_and_keep_the_frame_in_sight(self):
        self.browser.open(address_of("deep.svg"))
        self.browser.open(address_of("deep.svg", "#zoom=1500,visit_1"))
        box = self.browser.run(
            "const box = document.querySelector('.frames g[data-i=\"1500\"] rect')"
            ".getBoundingClientRect(); return [box.top, box.bottom]")
        self.assertGreater(box[0], 0)
        self.assertLess(box[1], self.HEIGHT)

    def test_the_page_does_what_the_svg_does(self):
        self.browser.open(address_of("training.html"))
        self.click("Trainer.train_step")
        self.assertGreater(self.find("Trainer.train_step")[2], 1240)
        self.assertIn("zoom", self.link())


class Details(FlamegraphCase):
    def test_hover_shows_name_place_value_and_shares(self):
        self.browser.open(address_of("training.svg"))
        x, y, _ = self.find("Trainer.train_step")
        self.browser.hover_at(x, y)
        details = self.text("#details")
        for part in ["Trainer.train_step", "Python", "/home/me/resnet/train.py:97",
                     "2 other places", "21.3 s", "42.1% of the total", "of its caller", "self 0"]:
            self.assertIn(part, details)

    def test_details_do_not_cover_the_graph(self):
        self.browser.open(address_of("training.svg"))
        graph, details = self.browser.run(
            "return ['.graph', '#details'].map((name) => {"
            "const box = document.querySelector(name).getBoundingClientRect();"
            "return [box.top, box.bottom];})")
        self.assertLessEqual(graph[1], details[0])
        self.assertLessEqual(details[1], self.HEIGHT)

    def test_differential_details_show_both(self):
        self.browser.open(address_of("differential.svg"))
        x, y, _ = self.find("_worker_loop")
        self.browser.hover_at(x, y)
        self.assertRegex(self.text("#details"), r"32\.5% of the total.*base 20\.7% \(10\.5 s\)"
                                                r".*\+11\.8 points, \u00d71\.57")


class Search(FlamegraphCase):
    def share(self):
        return float(self.text("#matched").split("%")[0])

    def test_counts_nested_matches_once(self):
        self.browser.open(address_of("training.svg"))
        self.browser.press("/")
        self.browser.type("trainer.")
        # Trainer.fit holds all other frames of that class.
        whole = self.share()
        self.browser.open(address_of("training.svg", "#search=trainer.fit"))
        self.assertEqual(self.share(), whole)
        self.assertLess(whole, 60)

    def test_control_f_opens_it_and_marks_matches(self):
        self.browser.open(address_of("training.svg"))
        self.browser.press("Control+f")
        self.browser.type("WORKER_LOOP")
        marked = self.browser.run("return [...document.querySelectorAll('.frames .hit text')]"
                                  ".map((text) => text.firstChild.data)")
        self.assertEqual(marked, ["_worker_loop"])
        self.assertIn("in 1 frame", self.text("#matched"))

    def test_takes_regular_expressions(self):
        self.browser.open(address_of("training.svg", "#search=%5Emain%24&regex=1"))
        self.assertIn("in 1 frame", self.text("#matched"))
        self.browser.open(address_of("training.svg", "#search=(&regex=1"))
        self.assertIn("Not a valid", self.text("#matched"))

    def test_says_the_share_of_a_zoomed_view(self):
        self.browser.open(address_of("training.svg", "#search=conv2d.forward"))
        self.click("Trainer.train_step")
        self.assertRegex(self.text("#matched"), r"; [\d.]+% of this view")

    def test_enter_goes_to_the_next_match(self):
        self.browser.open(address_of("training.svg"))
        self.browser.press("/")
        self.browser.type("conv2d")
        self.browser.press("Enter")
        first = self.text("#details")
        self.browser.press("Enter")
        self.assertIn("Conv2d.forward", first)
        self.assertIn("Conv2d._conv_forward", self.text("#details"))
        self.assertNotEqual(first, self.text("#details"))

    def test_finds_literal_hostile_names(self):
        self.browser.open(address_of("hostile.svg", "#search=%3C/script%3E"))
        self.assertIn("in 1 frame", self.text("#matched"))


class Keyboard(FlamegraphCase):
    def focused(self):
        return self.browser.run(
            "const group = document.activeElement.closest('g[data-i]');"
            "return group ? group.getAttribute('aria-label').split('\\n')[0] : null")

    def test_arrows_move_between_frames(self):
        self.browser.open(address_of("training.svg"))
        self.browser.press("ArrowUp")
        self.assertEqual(self.focused(), "all")
        self.browser.press("ArrowUp")
        self.assertEqual(self.focused(), "_start")
        self.browser.press("ArrowRight")
        self.assertEqual(self.focused(), "clone3")
        self.browser.press("ArrowUp", "ArrowDown", "ArrowLeft")
        self.assertEqual(self.focused(), "_start")

    def test_enter_zooms_and_escape_resets(self):
        self.browser.open(address_of("training.svg"))
        self.browser.press("ArrowUp", "ArrowUp", "ArrowRight", "Enter")
        self.assertGreater(self.find("clone3")[2], 1240)
        self.assertEqual(self.focused(), "clone3")
        self.browser.press("Escape")
        self.assertLess(self.find("clone3")[2], 600)

    def test_focus_is_visible(self):
        self.browser.open(address_of("training.svg"))
        self.browser.press("ArrowUp", "ArrowUp")
        self.assertEqual(self.browser.run(
            "const rect = document.activeElement.querySelector('rect');"
            "return getComputedStyle(rect).strokeWidth"), "2px")

    def test_tab_goes_through_the_bar_to_one_frame(self):
        self.browser.open(address_of("training.svg"))
        seen = []
        for _ in range(5):
            self.browser.press("Tab")
            seen.append(self.browser.run("return document.activeElement.localName"))
        self.assertEqual(seen, ["input", "button", "button", "button", "g"])

    def test_down_goes_to_the_leaf_when_inverted(self):
        self.browser.open(address_of("inverted.svg"))
        self.browser.press("ArrowDown", "ArrowDown")
        self.assertEqual(self.focused(), "_start")


class Hostile(FlamegraphCase):
    def test_names_never_run(self):
        for name in ["hostile.svg", "hostile.html"]:
            self.browser.open(address_of(name))
            for frame in ["__proto__", "constructor", "main"]:
                x, y, _ = self.find(frame)
                self.browser.hover_at(x, y)
                self.browser.click_at(x, y)
                self.browser.press("Escape")
            self.assertIsNone(self.browser.run("return window.hacked"))
            self.assertEqual(self.browser.run("return document.querySelectorAll('img').length"), 0)

    def test_links_never_run(self):
        link = "#search=%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E&zoom=1,%3Cscript%3E"
        self.browser.open(address_of("hostile.html", link))
        self.assertIsNone(self.browser.run("return window.hacked"))


class Empty(FlamegraphCase):
    def test_says_that_there_are_no_samples(self):
        self.browser.open(address_of("empty.svg"))
        self.assertIn("There are no samples to show.", self.text(".message"))
        self.browser.press("ArrowUp", "Escape", "/")
        self.browser.type("x")


class Print(FlamegraphCase):
    def test_is_one_page_and_comes_back(self):
        for name in ["training.svg", "training.html"]:
            self.browser.open(address_of(name, "#search=conv"))
            pdf = self.browser.print_to_pdf()
            self.assertEqual(pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page "), 1)
            self.assertIsNotNone(self.find("Trainer.train_step"))


class Wide(FlamegraphCase):
    WIDTH, HEIGHT = 3840, 2160

    def test_fills_a_4k_window(self):
        self.browser.open(address_of("training.svg"))
        self.assertGreater(self.find("all")[2], 3800)


class Phone(FlamegraphCase):
    WIDTH, HEIGHT, IS_PHONE = 390, 844, True

    def check_fit(self):
        inner, scroll = self.browser.run(
            "return [innerWidth, document.documentElement.scrollWidth]")
        self.assertEqual(inner, 390)
        self.assertLessEqual(scroll, inner)
        texts = self.browser.run(VISIBLE_TEXTS)
        self.assertGreater(len(texts), 10)
        for tag, size, text, left, right in texts:
            self.assertGreaterEqual(size, 11, (tag, text))
            self.assertGreaterEqual(left, 0, (tag, text))
            self.assertLessEqual(right, 390.5, (tag, text))

    def test_fits_without_scrolling_sideways(self):
        for name in ["training.svg", "training.html", "differential.svg", "empty.svg",
                     "inverted.svg"]:
            with self.subTest(name):
                self.browser.open(address_of(name))
                self.check_fit()

    def test_fits_when_zoomed_and_searching(self):
        self.browser.open(address_of("training.svg", "#search=conv"))
        self.click("Trainer.train_step")
        self.check_fit()
        self.assertIn("of this view", self.text("#matched"))

    def test_hostile_names_fit(self):
        self.browser.open(address_of("hostile.svg"))
        self.check_fit()


def main():
    programs = webdriver.find_programs()
    if programs is None:
        print("SKIP: chromium or chromedriver is missing")
        return 77
    with tempfile.TemporaryDirectory(prefix="lumbre-flamegraphs-") as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        screenshots = sys.argv[2] if len(sys.argv) > 2 else ""
        SETTINGS.update(programs=programs, folder=folder, screenshots=screenshots, browsers={})
        try:
            result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
        finally:
            for browser in SETTINGS["browsers"].values():
                browser.close()
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
