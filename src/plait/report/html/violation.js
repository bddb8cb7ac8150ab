// What went wrong: the violated condition and where its values come from, the two accesses of a
// race, the circle of a deadlock, the inputs.

function violationSection() {
  const violation = data.violation;
  if (!violation) return null;
  const last = trace.rows.length ? trace.rows.length - 1 : null;
  // The head of the page says what is wrong, and a race and a deadlock have their own pictures.
  const isAlone = !violation.accesses.length && !violation.waiting.length;
  return section(
    "violation",
    "Why it goes wrong",
    isAlone &&
      element(
        "p",
        { class: "message" },
        threadName(violation.thread),
        " at ",
        placeLink(violation.place) || "the end",
        violation.place && violation.place.text
          ? [": ", rowLink(last, code(violation.place.text))]
          : [": ", rowLink(last, violation.message)],
      ),
    element(
      "div",
      { class: "parts" },
      causes(violation.causes),
      accesses(violation.accesses),
      deadlock(violation.waiting),
      inputs(),
    ),
  );
}

function causes(list) {
  if (!list.length) return null;
  return element(
    "div",
    { class: "part" },
    element("h3", {}, "Where the values come from"),
    element(
      "ol",
      { class: "causes" },
      list.map((cause) => {
        const value = code(`${cause.name} = ${cause.value}`);
        if (cause.thread === null) return element("li", {}, value, ", the initial value");
        return element(
          "li",
          {},
          badge(cause.thread),
          " ",
          rowLink(trace.find(cause.step, cause.thread, cause.place), value),
          " in step ",
          String(cause.step),
          " at ",
          placeLink(cause.place),
          cause.place && cause.place.text ? [" by ", code(cause.place.text)] : null,
        );
      }),
    ),
  );
}

function accesses(list) {
  if (!list.length) return null;
  return element(
    "div",
    { class: "part wide" },
    element("h3", {}, "The two accesses"),
    element(
      "div",
      { class: "accesses" },
      list.map((access) => {
        const last = access.last;
        return element(
          "div",
          { class: "access " + threadClass(access.thread) },
          element(
            "p",
            {},
            threadName(access.thread),
            " is about to ",
            element("strong", {}, access.write ? "write " : "read "),
            code(access.name),
            access.atomic ? " atomically" : "",
            " at ",
            placeLink(access.place),
          ),
          access.place && element("pre", { class: "statement" }, access.place.text),
          element(
            "p",
            {},
            "holds ",
            access.locks.length
              ? access.locks.map((lock, index) => [index ? ", " : "", code(lock)])
              : "no lock",
          ),
          last &&
            element(
              "p",
              {},
              "last synchronisation: ",
              rowLink(trace.find(last.step, access.thread, last.place), last.operation.phrase),
              " at ",
              placeLink(last.place),
            ),
        );
      }),
    ),
  );
}

function deadlock(list) {
  if (!list.length) return null;
  return element(
    "div",
    { class: "part wide" },
    element("h3", {}, "Who waits for whom"),
    element(
      "div",
      { class: "deadlock" },
      circlePicture(circle(list)),
      element(
        "ul",
        { class: "plain" },
        list.map((waiting) =>
          element(
            "li",
            {},
            threadName(waiting.thread),
            " waits for ",
            awaited(waiting),
            ", at ",
            placeLink(waiting.place) || "the library",
          ),
        ),
      ),
    ),
  );
}

function awaited({ what, object, holders }) {
  const who = holders.map((holder, index) => [index ? " and " : "", threadName(holder)]);
  if (what === "join") return [who.length ? who : "another thread", " to end"];
  return [
    what,
    " ",
    code(object),
    who.length > 0 && [", which ", who, who.length > 1 ? " hold" : " holds"],
  ];
}

// The threads of the circle, each of which waits for the next; empty if there is none.
function circle(list) {
  const found = [],
    waitingOf = new Map(list.map((waiting) => [waiting.thread, waiting]));
  let at = list[0];
  while (at && !found.includes(at)) {
    found.push(at);
    at = waitingOf.get(at.holders.find((holder) => waitingOf.has(holder)));
  }
  return at ? found.slice(found.indexOf(at)) : [];
}

function circlePicture(members) {
  if (members.length < 2) return null;
  const longest = Math.max(
    ...members.map((member) => clipped(member.object || member.what, 22).length),
  );
  const radius = members.length === 2 ? 70 + 4 * longest : 45 + 22 * members.length;
  const at = members.map((_, index) => {
    const angle =
      (2 * Math.PI * index) / members.length - (members.length === 2 ? Math.PI : Math.PI / 2);
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
  const left = Math.min(...at.map((spot) => spot.x)) - 80,
    top = Math.min(...at.map((spot) => spot.y)) - 46;
  const width = Math.max(...at.map((spot) => spot.x)) + 80 - left,
    height = Math.max(...at.map((spot) => spot.y)) + 46 - top;
  const picture = svg(
    "svg",
    {
      class: "circle",
      viewBox: `${left} ${top} ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": members
        .map(
          (member, index) =>
            `thread ${member.thread} waits for ${member.object}, held by thread ${members[(index + 1) % members.length].thread}`,
        )
        .join("; "),
    },
    arrowHeads(["waits"]),
  );
  members.forEach((member, index) => {
    const from = at[index],
      to = at[(index + 1) % at.length];
    // The arrow bends away from the middle, so that two of them between two threads are apart.
    const across = { x: to.y - from.y, y: from.x - to.x };
    const length = Math.hypot(across.x, across.y);
    const bend = members.length === 2 ? 56 : 26;
    const control = {
      x: (from.x + to.x) / 2 + (across.x / length) * bend,
      y: (from.y + to.y) / 2 + (across.y / length) * bend,
    };
    const start = towards(from, control, 19),
      end = towards(to, control, 21);
    const label = {
      x: (start.x + 2 * control.x + end.x) / 4,
      y: (start.y + 2 * control.y + end.y) / 4,
    };
    const text = clipped(member.object || member.what, 22);
    const half = text.length * 3.8 + 8;
    picture.append(
      svg("path", {
        class: "edge waits",
        d: `M${start.x},${start.y} Q${control.x},${control.y} ${end.x},${end.y}`,
        "marker-end": "url(#head-waits)",
      }),
      svg("rect", {
        class: "plate",
        x: label.x - half,
        y: label.y - 11,
        width: 2 * half,
        height: 22,
        rx: 4,
      }),
      svg("text", { class: "mono", x: label.x, y: label.y + 4, "text-anchor": "middle" }, text),
    );
  });
  members.forEach((member, index) => {
    picture.append(
      svg(
        "g",
        { class: "badge big " + threadClass(member.thread) },
        svg("circle", { cx: at[index].x, cy: at[index].y, r: 16 }),
        svg(
          "text",
          { x: at[index].x, y: at[index].y + 5, "text-anchor": "middle" },
          String(member.thread),
        ),
      ),
    );
  });
  return picture;
}

function towards(from, to, distance) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return {
    x: from.x + ((to.x - from.x) / length) * distance,
    y: from.y + ((to.y - from.y) / length) * distance,
  };
}

function inputs() {
  if (!data.inputs.length) return null;
  const shown = data.inputs.slice(0, 200);
  return element(
    "div",
    { class: "part" },
    element("h3", {}, "Inputs"),
    element(
      "div",
      { class: "scroll short" },
      element(
        "table",
        {},
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            ["input", "value", "where"].map((name) => element("th", { scope: "col" }, name)),
          ),
        ),
        element(
          "tbody",
          {},
          shown.map((input) =>
            element(
              "tr",
              {},
              element("td", {}, code(input.name)),
              element(
                "td",
                {},
                rowLink(trace.find(input.step, input.thread, input.place), code(input.value)),
              ),
              element("td", {}, badge(input.thread), " ", placeLink(input.place)),
            ),
          ),
        ),
      ),
    ),
    data.inputs.length > shown.length &&
      element("p", { class: "note" }, `and ${data.inputs.length - shown.length} more`),
  );
}
