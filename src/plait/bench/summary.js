
"use strict";
{
  // This script is inside a page that XML parsers read too: no character here needs escaping.
  const table = document.getElementById("tasks");
  const rows = Array.from(table.tBodies[0].rows);
  const text = document.getElementById("text");
  const choices = Array.from(document.querySelectorAll("select[data-column]"));
  const count = document.getElementById("count");

  function matches(row) {
    const words = text.value.toLowerCase().split(" ").filter(Boolean);
    const content = row.textContent.toLowerCase();
    const chosen = choices.every((choice) =>
      [row.cells[Number(choice.dataset.column)].textContent, ""].includes(choice.value));
    return chosen ? words.every((word) => content.includes(word)) : false;
  }

  function filter() {
    for (const row of rows) row.hidden = matches(row) === false;
    const shown = rows.filter((row) => row.hidden === false).length;
    count.textContent = shown + " of " + rows.length;
  }

  function sort(head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const at = head.cellIndex;
    const value = (row) => row.cells[at].textContent;
    const order = head.classList.contains("number")
      ? (a, b) => Number(value(a)) - Number(value(b))
      : (a, b) => value(a).localeCompare(value(b));
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    table.tBodies[0].append(...rows);
  }

  for (const head of table.tHead.rows[0].cells)
    head.querySelector("button").addEventListener("click", () => sort(head));
  text.addEventListener("input", filter);
  for (const choice of choices) choice.addEventListener("change", filter);
  filter();
  document.documentElement.dataset.ready = "yes";
}
