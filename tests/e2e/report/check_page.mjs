// Opens pages of reports in a browser and looks at them as their readers do: with a mouse, with a keyboard, in light and in
// dark, on a narrow screen, printed, and without JavaScript. Prints a line for each thing that is wrong; exit status 1 then.
// A line "took: ..." has times, which nothing depends on.
//   node check_page.mjs MODULES BROWSER PAGE OTHER_REPORT
// MODULES: a folder with node_modules/ of puppeteer-core and axe-core. OTHER_REPORT: a report.json to compare with.
import { createRequire } from "node:module";
import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, browserProgram, pageFile, otherReport] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(modules, "package.json")));
const imported = await import(pathToFileURL(require.resolve("puppeteer-core")));
const puppeteer = imported.default ?? imported;
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const problems = [];
const expect = (condition, what) => { if (!condition) problems.push(what); };

// A name is looked for where a shell would.
const executablePath = browserProgram.includes("/") ? browserProgram
  : process.env.PATH.split(delimiter).map((folder) => join(folder, browserProgram)).find((file) => existsSync(file));
const browser = await puppeteer.launch({
  executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

const open = async (name, { width = 1280, scheme = "light", script = true } = {}) => {
  const page = await browser.newPage();
  page.on("pageerror", (error) => problems.push(`${name}: ${error.message}`));
  page.on("console", (message) => problems.push(`${name}: the console says: ${message.text()}`));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push(`${name}: asks for ${request.url()}`);
    if (request.url().startsWith("file:") && request.url() !== pathToFileURL(pageFile).href)
      problems.push(`${name}: asks for ${request.url()}`);
  });
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" }]);
  await page.goto(pathToFileURL(pageFile).href);
  return page;
};

// Of a thousand operators axe looks at a hundred thousand elements, which takes it half a minute: twice is enough.
const isLarge = statSync(pageFile).size > 1e6;
const accessible = async (page, name) => {
  if (isLarge && !["with a choice", "dark, 360 wide"].includes(name)) return;
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of violations)
    problems.push(`${name}: ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
};

// What is chosen, view by view.
const chosen = (page) => page.evaluate(() => {
  const ids = (selector) => [...new Set([...document.querySelectorAll(selector)].map((element) => element.dataset.op ?? element.dataset.buf))];
  return {
    table: ids(".operators tr.chosen"), graph: ids("svg .node.chosen"), bars: ids("#timeline svg .bar.chosen"),
    flash: ids("#flash svg .chosen"), runs: ids("#memory svg .run.chosen"),
    buffers: [...document.querySelectorAll("svg .buffer.chosen")].map((element) => element.dataset.buf),
    panel: document.getElementById("selection").hidden ? "" : document.getElementById("selected").textContent,
  };
});

// ---- views, and one choice in all of them ----
{
  const times = {};
  const timed = async (what, work) => {
    const begin = performance.now();
    const result = await work();
    times[what] = Math.round(performance.now() - begin);
    return result;
  };
  const page = await timed("open", () => open("views"));
  const drawn = await page.evaluate(() => Object.fromEntries(
    ["#memory svg .buffer rect", "#memory svg .run", "#graph svg .node rect", "#timeline svg .bar rect", ".operators tbody tr"]
      .map((selector) => [selector, [...document.querySelectorAll(selector)].filter((element) => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && box.height > 0;
      }).length])));
  for (const [selector, count] of Object.entries(drawn)) expect(count > 1, `views: ${count} of '${selector}' are drawn`);

  // An operator that has a buffer, an area of the flash or not, a node and a bar.
  const operator = await page.evaluate(() => [...document.querySelectorAll("svg .buffer[data-op]")]
    .map((element) => element.dataset.op)
    .find((id) => document.querySelector(`#graph .node[data-op="${id}"]`) && document.querySelector(`#timeline .bar[data-op="${id}"]`)));
  expect(operator !== undefined, "views: no operator is in all views");

  const clickOn = async (selector) => {
    const element = await page.$(selector);
    await element.evaluate((each) => each.scrollIntoView({ block: "center", behavior: "instant" }));
    await element.evaluate((each) => (each.querySelector("rect") ?? each).dispatchEvent(new MouseEvent("click", { bubbles: true })));
  };
  const everywhere = async (how) => {
    const now = await chosen(page);
    for (const view of ["table", "graph", "bars", "runs"])
      expect(now[view].length === 1 && now[view][0] === operator, `${how}: ${view} has chosen ${JSON.stringify(now[view])}, not ${operator}`);
    expect(now.panel !== "", `${how}: nothing says what is chosen`);
    return now;
  };
  for (const from of ["#graph .node", "#timeline svg .bar", ".operators tr"]) {
    await timed(`choose in ${from}`, () => clickOn(`${from}[data-op="${operator}"]`));
    const now = await everywhere(from);
    expect(now.buffers.length > 0, `${from}: no buffer is chosen`);
    await page.keyboard.press("Escape");
    const none = await chosen(page);
    expect(none.table.length === 0 && none.panel === "", `${from}: Escape leaves a choice`);
  }
  const buffer = await page.evaluate((id) => document.querySelector(`svg .buffer[data-op="${id}"]`).dataset.buf, operator);
  await clickOn(`svg .buffer[data-buf="${buffer}"]`);
  const now = await everywhere("a buffer");
  expect(now.buffers.length === 1 && now.buffers[0] === buffer, `a buffer: ${now.buffers} are chosen, not ${buffer}`);
  expect(now.panel.startsWith("Buffer "), "a buffer: the panel is not of it");
  const cell = await page.$("#flash svg .cell[data-op]");
  if (cell) {
    const inFlash = await cell.evaluate((element) => element.dataset.op);
    await clickOn(`#flash svg .cell[data-op="${inFlash}"]`);
    expect((await chosen(page)).table[0] === inFlash, "flash: the table has another operator chosen");
  }
  await timed("axe", () => accessible(page, "with a choice"));
  await page.click("#clear");
  expect((await chosen(page)).panel === "", "the button leaves a choice");

  // ---- keyboard ----
  const stops = await page.evaluate(() => [...document.querySelectorAll("svg.items")].map((svg) => svg.querySelectorAll('[tabindex="0"]').length));
  expect(stops.every((count) => count === 1), `keyboard: drawings have ${stops} stops of the tabulator`);
  await page.$eval("#graph svg [tabindex='0']", (each) => each.focus());
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const second = await page.evaluate(() => document.querySelectorAll("#graph svg .node[data-op]")[1].dataset.op);
  expect((await chosen(page)).table[0] === second, "keyboard: the second node is not chosen");
  await page.keyboard.press("Escape");
  await page.focus(".operators tbody tr[tabindex='0']");
  await page.keyboard.press("End");
  await page.keyboard.press(" ");
  const last = await page.evaluate(() => document.querySelector(".operators tbody tr:last-child").dataset.op);
  expect((await chosen(page)).graph[0] === last, "keyboard: the last row is not chosen");
  await page.keyboard.press("Escape");

  // ---- table ----
  const column = (at) => page.evaluate((index) => [...document.querySelectorAll(".operators tbody tr")].map((row) => Number(row.cells[index].dataset.value)), at);
  await page.click(".operators thead th:nth-child(4) button");
  const macs = await column(3);
  expect(macs.every((value, i) => i === 0 || macs[i - 1] >= value), `table: MACs are not sorted: ${macs}`);
  expect(await page.$eval(".operators thead th:nth-child(4)", (th) => th.getAttribute("aria-sort")) === "descending", "table: aria-sort is not set");
  await page.click(".operators thead th:nth-child(4) button");
  expect((await column(3)).join() === [...macs].sort((a, b) => a - b).join(), "table: MACs are not sorted the other way round");
  await page.click(".operators thead th:nth-child(1) button");
  const name = await page.$eval(".operators tbody tr .name", (each) => each.textContent);
  await timed("search", () => page.type(".find input", name));
  const found = await page.evaluate(() => [...document.querySelectorAll(".operators tbody tr")].filter((row) => row.getBoundingClientRect().height > 0).map((row) => row.textContent));
  expect(found.length > 0 && found.every((text) => text.includes(name)), "table: the search shows other rows");
  await page.$eval(".find input", (input) => { input.value = ""; input.dispatchEvent(new Event("input")); });

  // ---- another report ----
  const chooser = await page.$("#other");
  await chooser.uploadFile(otherReport);
  await page.waitForSelector("#compared table tbody tr");
  const figures = await page.$$eval("#compared tbody th", (cells) => cells.map((cell) => cell.textContent));
  expect(figures.includes("flash, bytes") || figures.includes("weights, bytes"), `comparison: has only ${figures.slice(0, 9)}`);
  await accessible(page, "with a comparison");
  await chooser.uploadFile(pageFile);
  await page.waitForFunction(() => document.getElementById("compared").textContent.includes("is no report.json"));
  await page.close();
  console.log(`took: ${Object.entries(times).map(([what, took]) => `${what} ${took} ms`).join(", ")}`);
}

// ---- light, dark, narrow ----
const grounds = [];
for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360]]) {
  const name = `${scheme}, ${width} wide`;
  const page = await open(name, { scheme, width });
  grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(tooWide <= 0, `${name}: the page scrolls sideways by ${tooWide}`);
  await accessible(page, name);
  if (width > 1000) {
    const before = grounds[grounds.length - 1];
    await page.click("#theme");
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) !== before, `${name}: the button changes nothing`);
  }
  await page.close();
}
expect(grounds[0] !== grounds[1], "light and dark have the same ground");

// ---- printed ----
{
  const page = await open("printed", { scheme: "dark" });
  await page.emulateMediaType("print");
  expect(await page.evaluate(() => getComputedStyle(document.querySelector("nav")).display) === "none", "printed: the links are there");
  expect((await page.pdf()).length > 10000, "printed: nothing is");
  await page.close();
}

// ---- without JavaScript ----
{
  const page = await open("without JavaScript", { script: false });
  const text = await page.$eval("main", (main) => main.innerText);
  const rows = await page.$$eval(".operators tbody tr", (all) => all.filter((row) => row.getBoundingClientRect().height > 0).length);
  const drawings = await page.$$eval("svg", (all) => all.filter((svg) => svg.getBoundingClientRect().height > 0).length);
  expect(rows > 1 && drawings > 3, `without JavaScript: ${rows} rows and ${drawings} drawings`);
  expect(text.includes("Memory over time") && text.includes("Flash"), "without JavaScript: views are missing");
  expect(await page.$eval(".tools", (tools) => getComputedStyle(tools).display) === "none", "without JavaScript: buttons are there that do nothing");
  expect(await page.$$eval("details summary", (all) => all.length) > 1, "without JavaScript: no lists to open");
  await page.close();
}

await browser.close();
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
