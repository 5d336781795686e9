"""The rows of a long chat, in blocks: `web-test-client/chat/views/row-blocks.js`."""

MAKE_ROWS = """
    const { RowBlocks } = await import('/chat/views/row-blocks.js');
    const [view, list] = [document.createElement('div'), document.createElement('div')];
    view.style.cssText = `overflow-y: scroll; height: ${viewHeight}px`;
    view.append(list);
    document.body.replaceChildren(view);
    const makeElement = (row) => {
      row.element = document.createElement('div');
      row.element.style.height = `${row.height}px`;
      return row.element;
    };
    const rows = new RowBlocks(list, view, makeElement, () => {});
    rows.viewHeight = viewHeight;
    const add = (count, height) => {
      for (let n = 0; n < count; n += 1) rows.insert({ element: null, height }, rows.count);
    };
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const show = async () => {
      await frame();
      rows.render(true);
      view.scrollTop = view.scrollHeight;
    };
"""


def run(page, url, view_height, body):
    page.goto(url + "/")
    return page.evaluate(f"async (viewHeight) => {{ {MAKE_ROWS} {body} }}", view_height)


def test_rows_that_wait_for_the_next_frame_do_not_count_in_the_height_of_those_that_are_shown(open_page, url):
    heights = run(
        open_page("about:blank"), url, 500,
        """
        add(1, 60);
        await show();
        // In the same frame, before the browser tells that it has shown the first row.
        add(19, 60);
        await frame();
        await frame();
        add(2000, 60);
        await show();
        return [...list.children].filter((block) => block.childElementCount === 0).map((block) => block.style.height);
        """,
    )  # fmt: skip
    assert len(heights) > 90
    assert set(heights) == {"960px"}, "20 rows of 48 pixels, until a full block was shown"


def test_after_a_high_row_the_low_ones_fill_a_tall_view(open_page, url):
    top = run(
        open_page("about:blank"), url, 1400,
        """
        add(1, 300);
        await show();
        await frame();
        await frame();
        add(2000, 28);
        await show();
        // The rows with elements, from the end upwards.
        const last = [...list.children].reverse();
        const end = last.findIndex((block) => block.childElementCount === 0);
        return last[end - 1].getBoundingClientRect().top - view.getBoundingClientRect().top;
        """,
    )  # fmt: skip
    assert top <= 0, "empty pixels at the top"
