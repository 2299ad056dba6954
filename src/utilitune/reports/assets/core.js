"use strict";
/* Small helpers. Every text goes onto the page as text: nothing here or elsewhere turns a string into markup. */
const U = {};

U.el = (tag, options = {}, ...children) => {
  const node = document.createElement(tag);
  U.dress(node, options);
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
  return node;
};

U.dress = (node, options) => {
  for (const [key, value] of Object.entries(options)) {
    if (value === null || value === undefined) continue;
    if (key === "text") node.textContent = value;
    else if (key === "class") node.setAttribute("class", value);
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "css") for (const [name, text] of Object.entries(value)) node.style.setProperty(name, text);
    else node.setAttribute(key, value);
  }
};

U.svg = (tag, options = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  U.dress(node, options);
  for (const child of children) if (child) node.append(child);
  return node;
};

U.clear = (node) => { node.replaceChildren(); return node; };

U.color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

U.number = (value, digits = 3) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return "∞";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) return value.toExponential(1).replace(".0e", "e").replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
};

/* A number that is promised to be enough: three digits, never less than it is. */
U.enough = (value) => {
  if (!(value > 0) || !Number.isFinite(value)) return U.number(value);
  const size = 10 ** (2 - Math.floor(Math.log10(value)));
  return U.number(Math.ceil(value * size - 1e-9) / size);
};

const GROUPED = new Intl.NumberFormat("en-US");
U.count = (value) => GROUPED.format(value);

U.some = (number, what) => `${U.count(number)} ${what}${number === 1 ? "" : "s"}`;

U.time = (seconds) => {
  if (seconds === null || seconds === undefined) return "–";
  if (!Number.isFinite(seconds)) return "∞";
  seconds = Number(seconds.toPrecision(3)); /* 999.9 ms are 1 s */
  for (const [least, size, unit] of [[172800, 86400, "d"], [3600, 3600, "h"], [120, 60, "min"], [1, 1, "s"]]) {
    if (seconds >= least) return `${Number((seconds / size).toPrecision(3))} ${unit}`;
  }
  if (seconds === 0) return "0 s";
  return seconds >= 1e-3 ? `${Number((seconds * 1e3).toPrecision(3))} ms` : `${Number((seconds * 1e6).toPrecision(3))} µs`;
};

U.moment = (at) => (at ? new Date(at * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "–");

U.value = (value) => {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" && !Number.isSafeInteger(value) ? U.number(value, 5) : String(value); /* integers keep all digits */
};

U.card = (id, title, ...children) =>
  U.el("section", { class: "card", id, "aria-labelledby": `${id}-title` }, U.el("h2", { text: title, id: `${id}-title` }), ...children);

U.soft = (text) => U.el("p", { class: "soft small", text });

U.table = (heads, rows, numbers = []) => {
  const cell = (tag, content, column) => {
    const node = U.el(tag, { class: numbers.includes(column) ? "number" : null });
    node.append(content instanceof Node ? content : String(content));
    return node;
  };
  return U.el("table", {},
    U.el("thead", {}, U.el("tr", {}, heads.map((head, column) => cell("th", head, column)))),
    U.el("tbody", {}, rows.map((row) => U.el("tr", {}, row.map((content, column) => cell("td", content, column))))));
};

U.copyButton = (text) => {
  const button = U.el("button", { type: "button", text: "Copy", class: "noprint" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the text and copy it";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  return button;
};

/* Tabs: one button per name, the panel filled by `fill(name)`; arrow keys move between them. */
U.tabs = (label, names, fill) => {
  const list = U.el("div", { class: "bar noprint", role: "tablist", "aria-label": label });
  const panel = U.el("div", { role: "tabpanel" });
  const buttons = names.map((name) => U.el("button", { type: "button", role: "tab", text: name }));
  const select = (index) => {
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === index));
      button.tabIndex = other === index ? 0 : -1;
    });
    U.clear(panel).append(fill(names[index]));
  };
  buttons.forEach((button, index) => {
    button.addEventListener("click", () => select(index));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (index + step + buttons.length) % buttons.length;
      select(next);
      buttons[next].focus();
    });
    list.append(button);
  });
  select(0);
  return U.el("div", {}, list, panel);
};

/* Light, dark, or what the system says; remembered where the browser lets us. */
/* Paper is white: what is printed has light colours, whatever the screen has. */
const dressed = (theme) => { document.documentElement.dataset.theme = theme; document.dispatchEvent(new Event("themechange")); };
let onScreen = "light";
window.addEventListener("beforeprint", () => { onScreen = document.documentElement.dataset.theme; dressed("light"); });
window.addEventListener("afterprint", () => dressed(onScreen));

U.theme = () => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("utilitune-theme"); } catch { /* a file opened from disk may not */ }
  const button = U.el("button", { type: "button", class: "noprint" });
  const apply = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
    document.dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("utilitune-theme", chosen); } catch { /* the same */ }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
  return button;
};

/* What is to be drawn waits for the next frame, and one frame draws only so much: the page never stands still. */
const FRAME_MS = 12;
const waiting = new Set();
U.drawnMs = 0; /* spent on drawing since the page was opened */
U.soon = (paint) => { if (!waiting.size) requestAnimationFrame(work); waiting.add(paint); };
const work = () => {
  const began = performance.now();
  for (const paint of waiting) {
    waiting.delete(paint);
    paint();
    if (performance.now() - began > FRAME_MS) break;
  }
  U.drawnMs += performance.now() - began;
  if (waiting.size) requestAnimationFrame(work);
};

/* Draw soon, and again when width, colours or data change. What nobody sees is drawn when somebody looks, or prints. A drawing that
   has left the page lets go of everything. Widths come from the observer: asking the page for one would lay all of it out anew. */
U.responsive = (node, draw) => {
  let width = 0, inSight = true, isStale = false, wasThere = false;
  const paint = () => { if (node.isConnected) { isStale = false; draw(width); } };
  const sizes = new ResizeObserver((entries) => {
    const now = Math.floor(entries[entries.length - 1].contentRect.width);
    if (now && now !== width) { width = now; again(); }
  });
  const sights = new IntersectionObserver((entries) => {
    inSight = entries[entries.length - 1].isIntersecting;
    if (inSight && isStale) U.soon(paint);
  }, { rootMargin: "200px" });
  const always = () => {
    if (node.isConnected && node.clientWidth) { width = node.clientWidth; paint(); } else if (wasThere && !node.isConnected) leave();
  };
  const leave = () => {
    sizes.disconnect();
    sights.disconnect();
    document.removeEventListener("themechange", always);
    window.removeEventListener("beforeprint", always);
  };
  const again = () => {
    if (!node.isConnected) { if (wasThere) leave(); return; }
    const isFirst = !wasThere;
    wasThere = true;
    if (!width) return;
    if (inSight || isFirst) U.soon(paint); else isStale = true;
  };
  sizes.observe(node);
  sights.observe(node);
  document.addEventListener("themechange", always);
  window.addEventListener("beforeprint", always);
  return again;
};
