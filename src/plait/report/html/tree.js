// The abstract reachability tree of a proof.

const MOST_NODES = 300; // in the picture
const MOST_LISTED = 3000;
const NODE = { radius: 13, level: 46, narrow: 38, wide: 190 };
const READABLE_SCALE = 0.8; // of what is opened
const SMALLEST_SCALE = 0.45; // of all of it, on request; with good eyes
const FEWEST_NODES = 12;

class Tree {
  constructor() {
    this.nodes = data.tree.map(([number, parent, thread, where, label, cover]) => ({
      number,
      parent,
      thread,
      where,
      label,
      cover,
      children: [],
    }));
    this.byNumber = new Map(this.nodes.map((node) => [node.number, node]));
    for (const node of this.nodes) {
      const parent = this.byNumber.get(node.parent);
      if (parent && parent !== node) parent.children.push(node);
    }
    this.root = this.nodes.find((node) => !this.byNumber.has(node.parent));
    this.picture = svg("svg", {
      class: "tree",
      id: "tree-picture",
      role: "group",
      "aria-label": "abstract reachability tree",
    });
    this.detail = element("div", { class: "detail", id: "tree-detail", "aria-live": "polite" });
    this.view = element(
      "div",
      {
        class: "scroll picture",
        tabindex: 0,
        role: "region",
        "data-own-keys": true,
        "aria-label":
          "abstract reachability tree; arrow keys go to the parent, a child or the nodes beside",
        onkeydown: (event) => this.onKey(event),
      },
      this.picture,
    );
    this.list = element(
      "details",
      { class: "nodes", ontoggle: () => this.fillList() },
      element("summary", {}, "All nodes as a table"),
    );
    addEventListener("beforeprint", () => {
      this.list.open = true;
      this.fillList();
    });
    addEventListener("afterprint", () => {
      this.list.open = false;
    });
  }

  // Once it is part of the page, so that the room is known.
  start() {
    if (!this.root) return;
    this.draw(this.root);
    this.select(this.root);
    this.fit();
  }

  get node() {
    if (!this.root) return null;
    const button = (label, text, action) =>
      element(
        "button",
        { type: "button", "aria-label": label, title: label, onclick: action },
        text,
      );
    const covered = this.nodes.filter((node) => node.cover !== null).length;
    return section(
      "tree",
      "Reachability tree",
      element(
        "p",
        { class: "note" },
        `${this.nodes.length} nodes, ${covered} covered. A node's colour is the thread whose step leads there; a dashed arrow leads to the node that covers it.`,
      ),
      element(
        "div",
        { class: "zoom" },
        button("smaller", "−", () => this.zoom(this.scale / 1.3)),
        button("larger", "+", () => this.zoom(this.scale * 1.3)),
        button("fit into the page", "fit", () => this.fit()),
        button("all nodes, as small as it takes", "all", () => {
          this.draw(this.root, true);
          this.select(this.selected);
        }),
      ),
      element("div", { class: "tree-box" }, this.view, this.detail),
      this.list,
    );
  }

  fillList() {
    if (this.list.childElementCount > 1) return;
    const head = ["node", "parent", "step of", "threads are at", "covered by", "holds"].map(
      (name) => element("th", { scope: "col" }, name),
    );
    const shown = this.nodes.slice(0, MOST_LISTED);
    this.list.append(
      element(
        "div",
        { class: "scroll" },
        element(
          "table",
          {},
          element("thead", {}, element("tr", {}, head)),
          element(
            "tbody",
            {},
            shown.map((node) =>
              element(
                "tr",
                {},
                [node.number, node.parent].map((number) => element("td", {}, String(number ?? ""))),
                element("td", {}, node.thread !== null && badge(node.thread)),
                element(
                  "td",
                  {},
                  Object.entries(node.where).map(([thread, where]) => [
                    /^\d+$/.test(thread) ? badge(Number(thread)) : thread,
                    " ",
                    where,
                    "  ",
                  ]),
                ),
                element("td", {}, String(node.cover ?? "")),
                element("td", {}, code(node.label)),
              ),
            ),
          ),
        ),
      ),
    );
    if (this.nodes.length > shown.length)
      this.list.append(
        element("p", { class: "note" }, `and ${this.nodes.length - shown.length} more`),
      );
  }

  onKey(event) {
    const { selected } = this,
      parent = this.byNumber.get(selected.parent);
    const siblings = parent ? parent.children : [selected],
      at = siblings.indexOf(selected);
    const next = {
      ArrowUp: parent,
      ArrowDown: selected.children[0],
      ArrowLeft: siblings[at - 1],
      ArrowRight: siblings[at + 1],
    }[event.key];
    if (!next) return;
    event.preventDefault();
    this.jump(next);
  }

  // The node and what is below it, level by level, up to the limit.
  below(top, most) {
    const shown = [top];
    for (let at = 0; at < shown.length && shown.length < most; at++) {
      shown.push(...shown[at].children.slice(0, most - shown.length));
    }
    return new Set(shown);
  }

  leaves(shown) {
    return [...shown].filter((node) => !node.children.some((child) => shown.has(child))).length;
  }

  // As many nodes as fit into the page with labels that can be read; the rest is below these.
  fitting(top) {
    const width = (this.view.clientWidth || 1000) - 24,
      height = 0.7 * window.innerHeight - 24;
    let shown = this.below(top, MOST_NODES);
    const depthOf = (node) => (node === top ? 0 : 1 + depthOf(this.byNumber.get(node.parent)));
    const fits = () => {
      const levels = 1 + [...shown].reduce((most, node) => Math.max(most, depthOf(node)), 0);
      const leaves = this.leaves(shown);
      return (
        READABLE_SCALE * NODE.narrow * (leaves + 1) <= width &&
        READABLE_SCALE * (60 + NODE.level * (levels - 1)) <= height
      );
    };
    while (shown.size > FEWEST_NODES && !fits())
      shown = this.below(top, Math.max(FEWEST_NODES, Math.floor(0.85 * shown.size)));
    return shown;
  }

  draw(top, whole = false) {
    this.top = top;
    const shown = whole ? this.below(top, MOST_NODES) : this.fitting(top),
      place = new Map();
    const leaves = this.leaves(shown);
    const labelled = leaves <= 5;
    const step = labelled ? NODE.wide : NODE.narrow;
    // Depth first: leaves from left to right, every other node in the middle above its children.
    const stack = [[top, 0, false]];
    let nextLeaf = 0,
      deepest = 0;
    while (stack.length) {
      const [node, depth, done] = stack.pop();
      const children = node.children.filter((child) => shown.has(child));
      deepest = Math.max(deepest, depth);
      if (!children.length)
        place.set(node, { x: NODE.narrow + step * nextLeaf++, y: 28 + depth * NODE.level });
      else if (done) {
        const [first, last] = [place.get(children[0]), place.get(children[children.length - 1])];
        place.set(node, {
          x: labelled ? first.x : (first.x + last.x) / 2,
          y: 28 + depth * NODE.level,
        });
      } else {
        stack.push([node, depth, true]);
        for (const child of [...children].reverse()) stack.push([child, depth + 1, false]);
      }
    }
    const edges = [],
      covers = [],
      marks = [];
    for (const [node, { x, y }] of place) {
      const parent = node !== top && place.get(this.byNumber.get(node.parent));
      if (parent) {
        const middle = (parent.y + y) / 2;
        edges.push(
          svg("path", {
            class: "edge child",
            d: `M${parent.x},${parent.y} C${parent.x},${middle} ${x},${middle} ${x},${y}`,
          }),
        );
      }
      const cover = place.get(this.byNumber.get(node.cover));
      if (cover) covers.push(this.coverEdge({ x, y }, cover));
      marks.push(this.mark(node, x, y, shown, labelled));
    }
    const width = NODE.narrow * 2 + step * Math.max(0, nextLeaf - 1) + (labelled ? NODE.wide : 0),
      height = 60 + deepest * NODE.level;
    this.picture.replaceChildren(arrowHeads(["cover"]), ...edges, ...covers, ...marks);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.size = { width, height };
    this.places = place;
    this.fit();
  }

  zoom(scale) {
    this.scale = Math.max(0.2, Math.min(2, scale));
    this.picture.setAttribute("width", this.size.width * this.scale);
    this.picture.setAttribute("height", this.size.height * this.scale);
    if (this.selected && this.places.has(this.selected)) this.center(this.selected);
  }

  // As large as it can be without scrolling, within reason.
  fit() {
    const across = (this.view.clientWidth - 24) / this.size.width,
      down = (0.7 * window.innerHeight - 24) / this.size.height;
    this.zoom(Math.max(SMALLEST_SCALE, Math.min(1, across, down)));
  }

  center(node) {
    const { x, y } = this.places.get(node);
    this.view.scrollTo(
      x * this.scale - this.view.clientWidth / 2,
      y * this.scale - this.view.clientHeight / 2,
    );
  }

  coverEdge(from, to) {
    const start = towards(from, to, NODE.radius + 1),
      end = towards(to, from, NODE.radius + 2);
    const across = { x: -(end.y - start.y) * 0.18, y: (end.x - start.x) * 0.18 };
    return svg("path", {
      class: "edge cover",
      "marker-end": "url(#head-cover)",
      d: `M${start.x},${start.y} Q${(start.x + end.x) / 2 + across.x},${(start.y + end.y) / 2 + across.y} ${end.x},${end.y}`,
    });
  }

  mark(node, x, y, shown, labelled) {
    const hidden = node.children.filter((child) => !shown.has(child)).length;
    const group = svg(
      "g",
      {
        class: `node ${node.thread === null ? "" : threadClass(node.thread)}${node.cover !== null ? " covered" : ""}`,
        role: "button",
        "data-node": node.number,
        "aria-label": `node ${node.number}: ${node.label}`,
        onclick: () => this.select(node),
      },
      svg("circle", { cx: x, cy: y, r: NODE.radius }),
      svg("text", { x, y: y + 4, "text-anchor": "middle" }, String(node.number)),
      labelled &&
        svg(
          "text",
          { class: "mono label", x: x + NODE.radius + 6, y: y + 4 },
          clipped(node.label, 24),
        ),
      hidden > 0 &&
        svg(
          "text",
          { class: "more", x, y: y + NODE.radius + 13, "text-anchor": "middle" },
          `+${hidden}`,
        ),
    );
    return titled(group, `node ${node.number}: ${node.label}`);
  }

  select(node) {
    this.selected = node;
    for (const mark of this.picture.querySelectorAll(".node.current"))
      mark.classList.remove("current");
    const mark = this.picture.querySelector(`[data-node="${Number(node.number)}"]`);
    if (mark) mark.classList.add("current");
    const link = (other, text) =>
      element("button", { class: "link", type: "button", onclick: () => this.jump(other) }, text);
    const parent = this.byNumber.get(node.parent),
      cover = this.byNumber.get(node.cover);
    this.detail.replaceChildren(
      element("h3", {}, `Node ${node.number}`),
      element(
        "p",
        {},
        element(
          "span",
          { class: "term" },
          node.label ? "holds here " : "nothing needs to hold here",
        ),
        node.label && code(node.label),
      ),
      ...(node.thread === null
        ? []
        : [element("p", {}, "reached by a step of ", ...threadName(node.thread))]),
      element(
        "ul",
        { class: "plain" },
        Object.entries(node.where).map(([thread, where]) =>
          element(
            "li",
            {},
            /^\d+$/.test(thread) ? badge(Number(thread)) : thread,
            " ",
            this.whereLink(where),
          ),
        ),
      ),
      element(
        "p",
        { class: "links" },
        parent && link(parent, `parent ${parent.number}`),
        cover && [" covered by ", link(cover, String(cover.number))],
      ),
      ...(node.children.length && node !== this.top
        ? [
            element(
              "p",
              {},
              element(
                "button",
                {
                  type: "button",
                  onclick: () => {
                    this.draw(node);
                    this.select(node);
                  },
                },
                "show only what is below",
              ),
            ),
          ]
        : []),
      ...(this.top !== this.root
        ? [
            element(
              "p",
              {},
              element(
                "button",
                {
                  type: "button",
                  onclick: () => {
                    this.draw(this.root);
                    this.select(node);
                  },
                },
                "show from the root",
              ),
            ),
          ]
        : []),
    );
  }

  jump(node) {
    if (!this.places.has(node)) this.draw(node);
    this.select(node);
    this.center(node);
  }

  whereLink(where) {
    const colon = where.lastIndexOf(":");
    const file = where.slice(0, colon),
      line = Number(where.slice(colon + 1));
    if (colon > 0 && Number.isInteger(line)) return ["at ", placeLink({ file, line })];
    return where === "ended" ? "has ended" : `in ${where}`;
  }
}
