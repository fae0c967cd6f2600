"""The script of the page: shows what belongs to the box under the pointer, and the details of the one clicked."""

PAGE_SCRIPT = """
"use strict";
for (const part of document.querySelectorAll("section.experiment")) {
  const picture = part.querySelector(".drawing svg");
  const boxes = [...picture.querySelectorAll(".node")].map((each) => [each, each.dataset.node.split(" ")]);
  const nodes = new Map(boxes.flatMap(([each, ids]) => ids.map((id) => [id, each])));
  const lines = [...picture.querySelectorAll(".line")].map((each) => [each, each.dataset.ends.split(" ")]);
  const overview = part.querySelector(".overview");
  const details = new Map([...part.querySelectorAll(".detail")].map((each) => [each.dataset.detail, each]));
  let chosen = "";
  const clear = () => {
    picture.classList.remove("focus");
    for (const each of picture.querySelectorAll(".hot")) each.classList.remove("hot");
  };
  const show = (ids, around) => {
    clear();
    const wanted = boxes.filter(([, all]) => all.some((id) => ids.includes(id))).map(([, all]) => all[0]);
    if (!wanted.length) return;
    picture.classList.add("focus");
    for (const id of wanted) nodes.get(id).classList.add("hot");
    for (const [line, [start, ...ends]] of lines) {
      const meets = around && (wanted.includes(start) || ends.some((end) => wanted.includes(end)));
      if (!meets) continue;
      line.classList.add("hot");
      const others = wanted.includes(start) ? [start, ...ends] : [start];
      for (const id of others) if (nodes.has(id)) nodes.get(id).classList.add("hot");
    }
  };
  const open = (id) => {
    if (nodes.has(chosen)) nodes.get(chosen).classList.remove("chosen");
    chosen = details.has(id) ? id : "";
    for (const [key, each] of details) each.classList.toggle("open", key === chosen);
    overview.hidden = chosen !== "";
    if (nodes.has(chosen)) nodes.get(chosen).classList.add("chosen");
    overview.parentElement.scrollTop = 0;
  };
  for (const [node, [id]] of boxes) {
    node.addEventListener("mouseenter", () => show([id], true));
    node.addEventListener("mouseleave", clear);
    node.addEventListener("focus", () => show([id], true));
    node.addEventListener("blur", clear);
    node.addEventListener("click", () => open(chosen === id ? "" : id));
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(id); }
    });
  }
  for (const each of part.querySelectorAll("[data-for]")) {
    each.addEventListener("mouseenter", () => show(each.dataset.for.split(" "), false));
    each.addEventListener("mouseleave", clear);
  }
  for (const each of part.querySelectorAll("[data-open]")) {
    each.addEventListener("click", () => open(each.dataset.open));
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") open(""); });
}
"""
