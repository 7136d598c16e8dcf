// Tables of results.

function cell(name, content, className) {
  const made = document.createElement(name);
  made.textContent = content;
  if (className) made.className = className;
  return made;
}

/// A table in a box that scrolls by itself. The first cell of a row is its heading. A cell is a text, or
/// `{ text, className }`.
export function table(caption, headings, rows) {
  const made = document.createElement("table");
  made.createCaption().textContent = caption;
  const head = made.createTHead().insertRow();
  for (const heading of headings) head.append(Object.assign(cell("th", heading), { scope: "col" }));
  const body = made.createTBody();
  for (const [first, ...others] of rows) {
    const row = body.insertRow();
    row.append(Object.assign(cell("th", first), { scope: "row" }));
    row.append(...others.map((content) => cell("td", content.text ?? content, content.className)));
  }
  const box = document.createElement("div");
  box.className = "table";
  // A box that may scroll must be within reach of the keyboard.
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", caption);
  box.append(made);
  return box;
}
