// Pictures of reports' pages, view by view.
//   node shoot.mjs MODULES BROWSER PAGE PAGE_OF_A_BOARD FOLDER
// MODULES: a folder with node_modules/ of puppeteer-core. PAGE_OF_A_BOARD: whose flash is measured. Writes FOLDER/NAME.webp.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, browserProgram, pageFile, boardFile, folder] = process.argv.slice(2);
const require = createRequire(pathToFileURL(join(modules, "package.json")));
const imported = await import(pathToFileURL(require.resolve("puppeteer-core")));
const puppeteer = imported.default ?? imported;
const executablePath = process.env.PATH.split(delimiter).map((each) => join(each, browserProgram)).find((file) => existsSync(file));
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

const width = 1000;

const open = async (file, scheme) => {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" }]);
  await page.goto(pathToFileURL(resolve(file)).href);
  // What stays at its place while the page moves would be in the middle of a picture.
  await page.addStyleTag({ content: "nav { position: static !important; } html { scroll-padding-top: 0; }" });
  return page;
};

// An element, or as much of it as `most` pixels are.
const shoot = async (page, name, selector, most = 640) => {
  const [top, bottom] = await page.evaluate((each) => {
    const box = document.querySelector(each).getBoundingClientRect();
    return [box.top + window.scrollY, box.bottom + window.scrollY];
  }, selector);
  await page.screenshot({ path: join(folder, `${name}.webp`), type: "webp", quality: 62, captureBeyondViewport: true,
    clip: { x: 0, y: top, width, height: Math.min(bottom - top, most) } });
};

const choose = (page, name) => page.evaluate((wanted) => {
  const row = [...document.querySelectorAll(".operators tbody tr")].find((each) => each.querySelector(".name").textContent === wanted);
  row.dispatchEvent(new MouseEvent("click", { bubbles: true }));
}, name);

// An element at the top of the window, and what else is in it.
const shootWindow = async (page, name, from) => {
  await page.evaluate((selector) => document.querySelector(selector).scrollIntoView({ block: "start", behavior: "instant" }), from);
  await page.screenshot({ path: join(folder, `${name}.webp`), type: "webp", quality: 62 });
};

const light = await open(pageFile, "light");
await shoot(light, "memory", "#memory");
await shoot(light, "comparison", "#comparison", 560);
// One operator in all views, with what is known of it.
await choose(light, "block1_pointwise");
await light.setViewport({ width, height: 760 });
await shootWindow(light, "operators", "#operators");
await shootWindow(light, "graph", "#graph");
await shoot(await open(boardFile, "light"), "flash", "#flash");
await shoot(await open(pageFile, "dark"), "trace", "#trace", 420);
await browser.close();
