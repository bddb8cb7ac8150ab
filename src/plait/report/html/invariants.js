// What holds at the locations of a proof, in C syntax; `source.js` shows it at its lines as well.

function invariantsTable() {
  if (!data.invariants.length) return null;
  const sorted = [...data.invariants].sort(({ place: one }, { place: other }) =>
    one.file < other.file ? -1 : one.file > other.file ? 1 : one.line - other.line,
  );
  const roles = sorted.some(({ role }) => role);
  const head = ["where", roles ? "role" : "function", "holds whenever a thread is there"].map((name) =>
    element("th", { scope: "col" }, name),
  );
  return element(
    "div",
    {
      class: "pane invariants-pane scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "invariants",
    },
    element(
      "table",
      { class: "invariants" },
      element("thead", {}, element("tr", {}, head)),
      element(
        "tbody",
        {},
        sorted.map(({ place, text, loop, role, holding }) =>
          element(
            "tr",
            {},
            element("td", {}, placeLink(place), loop && element("span", { class: "chip" }, "loop")),
            element("td", {}, code(role || place.function)),
            element(
              "td",
              { class: "formula" },
              holding && element("span", { class: "chip" }, `holding ${holding}`),
              text && code(text),
            ),
          ),
        ),
      ),
    ),
  );
}
