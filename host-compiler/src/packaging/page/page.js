"use strict";
// What the page does beyond being read: a choice shared by all views, a table that sorts and searches, colours by hand,
// and the comparison with another report. Every text is set as text, never as markup.
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const parts = Array.isArray(report.stages) ? report.stages : [report];
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  root.classList.add("live");
  document.querySelector(".tools").hidden = false;

  // ---- colours ----
  const theme = document.getElementById("theme");
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  nameTheme();

  // ---- one choice for all views ----
  const panel = document.getElementById("selection");
  const shown = document.getElementById("selected");
  let chosen = { op: "", buffer: "" };

  const row = (id, list) => {
    const [part, number] = id.split(".").map(Number);
    const from = parts[part] && parts[part][list];
    return from ? from[number] : undefined;
  };

  const describe = () => {
    shown.replaceChildren();
    const list = make("dl");
    const add = (name, value) => {
      if (value === undefined || value === null || value === "" || value.length === 0) return;
      list.append(make("dt", name), make("dd", Array.isArray(value) ? value.join(", ") : String(value)));
    };
    const buffer = chosen.buffer && row(chosen.buffer, "buffers");
    const operator = chosen.op && row(chosen.op, "operators");
    if (buffer) {
      shown.append(make("strong", `Buffer ${buffer.name}`));
      add("Use", buffer.use);
      add("Tensor", buffer.tensor);
      add("Where", `${buffer.pool}, 0x${buffer.begin.toString(16)} to 0x${buffer.end.toString(16)}`);
      add("Bytes", grouped(buffer.end - buffer.begin));
      add("Steps", `${buffer.first_step} to ${buffer.last_step}`);
      add("Written by", buffer.written_by || "the application");
      add("Read by", buffer.read_by);
      add("Shares bytes of", buffer.alias);
    } else if (operator) {
      shown.append(make("strong", operator.name));
      add("Kind", operator.kind);
      add("Shapes", operator.shapes);
      const regions = parts[Number(chosen.op.split(".")[0])].regions ?? [];
      add("Device", regions.some((region) => region.name === operator.region)
        ? `${operator.member}, in ${operator.region}` : operator.member);
      add("Why there", operator.placement);
      add("MACs", grouped(operator.macs));
      const cycles = of("op", chosen.op).find((element) => element.matches(".operators tr"));
      if (cycles && cycles.cells.length > 6) add("Cycles", `${cycles.cells[4].textContent}, estimated`);
      add("Weights", operator.weight_bytes ? `${grouped(operator.weight_bytes)} bytes` : "");
      add("Tables", operator.table_bytes ? `${grouped(operator.table_bytes)} bytes` : "");
      add("Stream", operator.stream_bytes ? `${grouped(operator.stream_bytes)} bytes, of its region` : "");
      add("Kernels", operator.kernels);
    }
    shown.append(list);
  };

  // What stands for an operator or a buffer, found once: pages of a thousand operators have tens of thousands.
  const standing = { op: new Map(), buf: new Map(), users: new Map(), ends: new Map() };
  for (const [key, found] of Object.entries(standing))
    for (const element of all(`[data-${key}]`))
      for (const id of element.dataset[key].split(" "))
        found.has(id) ? found.get(id).push(element) : found.set(id, [element]);
  const of = (key, id) => (id && standing[key].get(id)) || [];

  let marked = [];
  const mark = (element, name) => {
    marked.push(element);
    element.classList.add(name);
    if (name !== "chosen") return;
    if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", "true");
    if (element.matches("tr")) element.setAttribute("aria-current", "true");
  };

  const choose = (op, buffer = "") => {
    for (const element of marked) {
      element.classList.remove("chosen", "used");
      if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", "false");
      element.removeAttribute("aria-current");
    }
    marked = [];
    chosen = { op, buffer };
    const is = Boolean(op || buffer);
    root.classList.toggle("choosing", is);
    panel.hidden = !is;
    if (!is) return;
    // A buffer that was chosen is the only one; else those that the operator writes.
    for (const element of of("op", op)) if (!buffer || !element.dataset.buf) mark(element, "chosen");
    for (const element of of("ends", op)) mark(element, "chosen");
    for (const element of of("buf", buffer)) mark(element, "chosen");
    if (!buffer) for (const element of of("users", op)) if (!element.classList.contains("chosen")) mark(element, "used");
    describe();
    const seen = new Set();
    for (const element of marked) {
      const box = element.closest(".scroll");
      if (!box || seen.has(box) || box.contains(document.activeElement)) continue;
      seen.add(box);
      bring(box, element);
    }
  };

  // Within a box that scrolls, without moving the page.
  const bring = (box, element) => {
    const outer = box.getBoundingClientRect(), inner = element.getBoundingClientRect();
    if (inner.top < outer.top + 30 || inner.bottom > outer.bottom)
      box.scrollTop += inner.top - outer.top - outer.height / 2;
    if (inner.left < outer.left || inner.right > outer.right)
      box.scrollLeft += inner.left - outer.left - outer.width / 3;
  };

  const choose_element = (element) => {
    const { op = "", buf = "" } = element.dataset;
    if (op === chosen.op && buf === chosen.buffer) choose("");
    else choose(op, buf);
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest("a, button, input, label, summary")) return;
    const element = event.target.closest("[data-op], [data-buf]");
    if (element) choose_element(element);
  });
  document.getElementById("clear").addEventListener("click", () => choose(""));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) choose("");
  });

  // Each drawing and each table is one stop of the tabulator; arrows go on inside, Enter and Space choose.
  const walk = (box, items, isButton) => {
    if (items.length === 0) return;
    items.forEach((item, index) => {
      item.setAttribute("tabindex", index === 0 ? "0" : "-1");
      if (!isButton) return;
      item.setAttribute("role", "button");
      item.setAttribute("aria-pressed", "false");
      const title = item.querySelector("title");
      if (title) item.setAttribute("aria-label", title.textContent);
    });
    box.addEventListener("keydown", (event) => {
      const here = event.target.closest("[data-op], [data-buf]");
      if (!here || event.target.matches("input, button")) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose_element(here);
        return;
      }
      const list = (isButton ? items : all("tbody tr", box)).filter((item) => !item.hidden);
      const at = list.indexOf(here);
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: list.length - 1 }[event.key];
      if (to === undefined || to < 0 || to >= list.length) return;
      event.preventDefault();
      here.setAttribute("tabindex", "-1");
      list[to].setAttribute("tabindex", "0");
      list[to].focus({ preventScroll: false });
    });
  };
  for (const drawing of all("svg.items")) {
    drawing.setAttribute("role", "group");
    // They say again what the items are called.
    for (const label of all("text.label", drawing)) label.setAttribute("aria-hidden", "true");
    walk(drawing, all("[data-op], [data-buf]", drawing).filter((item) => item.matches("g, rect")), true);
  }
  for (const body of all("tbody")) walk(body.parentElement, all("tr[data-op], tr[data-buf]", body), false);

  // ---- tables of operators: sorted by a column, searched ----
  all("table.operators").forEach((table, number) => {
    const body = table.tBodies[0];
    const headers = all("thead th", table);
    const value = (line, column) => {
      const cell = line.cells[column];
      const text = cell.dataset.value ?? cell.textContent;
      return headers[column].classList.contains("n") ? Number(text) : text.toLowerCase();
    };
    headers.forEach((header, column) => {
      const button = make("button", header.textContent, { type: "button" });
      header.replaceChildren(button);
      header.setAttribute("aria-sort", column === 0 ? "ascending" : "none");
      button.addEventListener("click", () => {
        const numbers = column > 0 && header.classList.contains("n");
        const was = header.getAttribute("aria-sort");
        const up = was === "none" ? !numbers : was === "descending";
        for (const other of headers) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", up ? "ascending" : "descending");
        const lines = Array.from(body.rows);
        lines.sort((a, b) => {
          const x = value(a, column), y = value(b, column);
          return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
        });
        body.append(...lines);
      });
    });
    const find = make("div", undefined, { class: "find" });
    const label = make("label", "Search operators", { for: `find-${number}`, class: "visually-hidden" });
    const input = make("input", undefined, { id: `find-${number}`, type: "search", placeholder: "Search: name, kind, device, reason" });
    const count = make("output", "", { for: `find-${number}` });
    find.append(label, input, count);
    table.closest(".scroll").before(find);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let visible = 0;
      for (const line of body.rows) {
        const text = line.textContent.toLowerCase();
        line.hidden = !words.every((word) => text.includes(word));
        if (!line.hidden) ++visible;
      }
      count.textContent = words.length ? `${visible} of ${body.rows.length}` : "";
    });
  });

  // ---- another report beside this one ----
  const figures = (from) => {
    const found = new Map();
    const add = (name, amount) => {
      if (typeof amount === "number") found.set(name, (found.get(name) ?? 0) + amount);
    };
    const programs = Array.isArray(from.stages) ? from.stages : [from];
    for (const program of programs) for (const pool of program.pools ?? []) add(`peak of ${pool.name}, bytes`, pool.peak);
    if (from.flash) {
      add("flash, bytes", from.flash.total_bytes);
      add("code, bytes", from.flash.code_bytes);
      add("stack, bytes", from.stack?.bytes);
    }
    const sums = [["weights, bytes", "weight_bytes"], ["tables, bytes", "table_bytes"], ["command streams, bytes", "stream_bytes"]];
    for (const program of programs) for (const [name, key] of sums) add(name, program.totals?.[key]);
    for (const device of from.estimated_cycles?.devices ?? []) add(`estimated cycles of ${device.member}`, device.cycles);
    for (const program of programs) {
      add("multiply-accumulates", program.totals?.macs);
      add("operators", program.operators?.length);
    }
    for (const program of programs) for (const one of program.operators ?? [])
      add(`${one.name}: bytes`, one.weight_bytes + one.table_bytes + one.stream_bytes);
    for (const one of from.estimated_cycles?.operators ?? []) add(`${one.name}: cycles`, one.cycles);
    return found;
  };

  const compare = (other, name) => {
    const place = document.getElementById("compared");
    const section = make("section", undefined, { "aria-labelledby": "compared-title" });
    section.append(make("h2", "Comparison with a file", { id: "compared-title" }));
    section.append(make("p", `Baseline ${name}: ${other.model} for ${other.target} on ${other.board}.`, { class: "lead" }));
    const table = make("table", undefined, { class: "comparison" });
    const head = make("tr");
    ["Figure", "Baseline", "This", "Change", "In per cent"].forEach((title, column) =>
      head.append(make("th", title, { scope: "col", ...(column ? { class: "n" } : {}) })));
    table.append(make("thead"), make("tbody"));
    table.tHead.append(head);
    const now = figures(report), before = figures(other);
    for (const key of new Set([...now.keys(), ...before.keys()])) {
      const a = before.get(key), b = now.get(key);
      if (key.includes(": ") && a === b) continue;
      const both = a !== undefined && b !== undefined;
      const change = both ? b - a : 0;
      const sign = change > 0 ? "+" : change < 0 ? "\u2212" : "\u00b1";
      const kind = change > 0 ? "n more" : change < 0 ? "n less" : "n";
      const line = make("tr");
      line.append(make("th", key, { scope: "row" }),
        make("td", a === undefined ? "\u2013" : grouped(a), { class: "n" }),
        make("td", b === undefined ? "\u2013" : grouped(b), { class: "n" }),
        make("td", both ? sign + grouped(Math.abs(change)) : "\u2013", { class: kind }),
        make("td", both && a !== 0 ? `${change === 0 ? "" : sign}${(100 * Math.abs(change) / a).toFixed(1)}%` : "\u2013", { class: kind }));
      table.tBodies[0].append(line);
    }
    const box = make("div", undefined, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of both reports" });
    box.append(table);
    section.append(box);
    place.replaceChildren(section);
    section.scrollIntoView();
  };

  document.getElementById("other").addEventListener("change", async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    const place = document.getElementById("compared");
    let other;
    try {
      other = JSON.parse(await file.text());
    } catch {
      other = undefined;
    }
    if (!other || other.format !== report.format || typeof other.model !== "string")
      place.replaceChildren(make("p", `${file.name} is no report.json of this version.`, { class: "note", role: "alert" }));
    else
      compare(other, file.name);
    event.target.value = "";
  });

  // What is printed is printed whole.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])").filter((each) => each.closest("#flash, [id^='flash-']"));
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of opened) each.open = false; });
})();
