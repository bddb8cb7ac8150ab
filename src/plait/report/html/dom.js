// Elements of the page. Texts become text nodes, whatever they contain: there is no way from a
// string to markup in this page.

function element(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) node.style.setProperty(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child !== null && child !== undefined && child !== false) node.append(child);
  }
}

function titled(node, text) {
  node.append(svg("title", {}, text));
  return node;
}

// A section with a heading; `id` is what the links at the top lead to.
function section(id, title, ...children) {
  return element(
    "section",
    { id, "aria-labelledby": id + "-title" },
    element("h2", { id: id + "-title" }, title),
    children,
  );
}

function code(text, className) {
  return element("code", { class: className }, text);
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

// The thread's number on the thread's colour: the one sign for a thread everywhere in the page.
function badge(thread, title) {
  return element(
    "span",
    { class: "badge " + threadClass(thread), title: title || threadTitle(thread) },
    String(thread),
  );
}

function threadClass(thread) {
  return "t" + (Math.max(thread - 1, 0) % 8);
}

function threadTitle(thread) {
  const known = trace.threadOf.get(thread);
  return known && known.function ? `thread ${thread}: ${known.function}` : `thread ${thread}`;
}

function threadName(thread) {
  return [badge(thread), " ", element("span", { class: "thread-name" }, `thread ${thread}`)];
}

function svgBadge(thread, x, y) {
  return svg(
    "g",
    { class: "badge " + threadClass(thread) },
    svg("circle", { cx: x, cy: y, r: 10 }),
    svg("text", { x, y: y + 4, "text-anchor": "middle" }, String(thread)),
  );
}

// A place of the source as a link that shows it there; text only where there is no such source.
function placeLink(place) {
  if (!place) return null;
  const text = `${baseName(place.file)}:${place.line}`;
  if (!sourceView.has(place.file)) return element("span", { class: "place" }, text);
  return element(
    "button",
    {
      class: "link place",
      type: "button",
      title: `show ${place.file}:${place.line}`,
      onclick: () => sourceView.reveal(place.file, place.line),
    },
    text,
  );
}

// A link to the row where something happens, or the bare text where there is none.
function rowLink(row, ...children) {
  if (row === null || row === undefined) return element("span", {}, children);
  return element(
    "button",
    {
      class: "link",
      type: "button",
      title: `go to row ${row + 1}`,
      onclick: () => player.show(row),
    },
    children,
  );
}

function clipped(text, length) {
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}

const arrowHeads = (kinds) =>
  svg(
    "defs",
    {},
    kinds.map((kind) =>
      svg(
        "marker",
        {
          id: "head-" + kind,
          class: kind,
          viewBox: "0 0 8 8",
          refX: 7,
          refY: 4,
          markerWidth: 7,
          markerHeight: 7,
          orient: "auto-start-reverse",
          markerUnits: "userSpaceOnUse",
        },
        svg("path", { d: "M0,0.5 L8,4 L0,7.5 z" }),
      ),
    ),
  );
