// Opens the page of a sweep, and the picture, in light and dark, on a narrow screen and printed. Prints a line for each thing
// that is wrong; exit status 1 then.
//   node check_sweep.mjs MODULES BROWSER PAGE PICTURE ROWS DRAWN
// MODULES: a folder with node_modules/ of puppeteer-core and axe-core. ROWS: of the table. DRAWN: those with figures.
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, browserProgram, pageFile, pictureFile, rows, drawn] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(modules, "package.json")));
const imported = await import(pathToFileURL(require.resolve("puppeteer-core")));
const puppeteer = imported.default ?? imported;
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const problems = [];
const expect = (condition, what) => { if (!condition) problems.push(what); };
const executablePath = process.env.PATH.split(delimiter).map((folder) => join(folder, browserProgram)).find((file) => existsSync(file));
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

const open = async (file, name, { width = 1280, scheme = "light" } = {}) => {
  const page = await browser.newPage();
  page.on("pageerror", (error) => problems.push(`${name}: ${error.message}`));
  page.on("console", (message) => problems.push(`${name}: the console says: ${message.text()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:") && request.url() !== pathToFileURL(file).href) problems.push(`${name}: asks for ${request.url()}`);
  });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(pathToFileURL(file).href);
  return page;
};

// Points that are drawn, and texts that lie over each other, or outside of their drawing.
const drawing = (page, selector) => page.evaluate((each) => {
  const boxes = [];
  let points = 0, wrong = 0;
  for (const svg of document.querySelectorAll(each)) {
    const whole = svg.getBoundingClientRect();
    points += [...svg.querySelectorAll("circle.point title")].map((title) => title.textContent.split("\n").length).reduce((a, b) => a + b, 0);
    for (const text of svg.querySelectorAll("text.number")) {
      const box = text.getBoundingClientRect();
      if (boxes.some((other) => box.left < other.right - 1 && other.left < box.right - 1 && box.top < other.bottom - 4 && other.top < box.bottom - 4)) ++wrong;
      if (box.left < whole.left || box.right > whole.right || box.top < whole.top || box.bottom > whole.bottom) ++wrong;
      boxes.push(box);
    }
  }
  return { points, wrong };
}, selector);

const grounds = [];
for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360]]) {
  const name = `page, ${scheme}, ${width} wide`;
  const page = await open(pageFile, name, { scheme, width });
  grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(tooWide <= 0, `${name}: the page scrolls sideways by ${tooWide}`);
  const count = await page.$$eval("table.sweep tbody th", (all) => all.length);
  expect(count === Number(rows), `${name}: ${count} rows`);
  // Each row is in both fields of its model's drawing.
  const { points, wrong } = await drawing(page, "svg.chart");
  expect(points === 2 * Number(drawn), `${name}: ${points} points`);
  expect(wrong === 0, `${name}: ${wrong} numbers lie over others or outside`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of violations)
    problems.push(`${name}: ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  await page.close();
}
expect(grounds[0] !== grounds[1], "light and dark have the same ground");

{
  const page = await open(pageFile, "printed", { scheme: "dark" });
  expect((await page.pdf()).length > 10000, "printed: nothing is");
  await page.close();
}

const papers = [];
for (const scheme of ["light", "dark"]) {
  const name = `picture, ${scheme}`;
  const page = await open(pictureFile, name, { scheme });
  papers.push(await page.evaluate(() => getComputedStyle(document.querySelector(".paper")).fill));
  const { points, wrong } = await drawing(page, "svg");
  expect(points === 2 * Number(drawn), `${name}: ${points} points`);
  expect(wrong === 0, `${name}: ${wrong} numbers lie over others or outside`);
  const label = await page.evaluate(() => document.documentElement.getAttribute("aria-label"));
  expect(label?.includes("digits") && (await page.evaluate(() => document.querySelector("svg > title").textContent)) === label, `${name}: has no name`);
  await page.close();
}
expect(papers[0] !== papers[1], "light and dark pictures have the same ground");

await browser.close();
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
