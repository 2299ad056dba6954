"use strict";
/* Charts: scales with round ticks, and line charts that zoom by dragging, by wheel with Ctrl, and by keys. */
U.linear = (low, high, from, to) => {
  const span = high - low || 1;
  const scale = (value) => from + ((value - low) / span) * (to - from);
  scale.invert = (place) => low + ((place - from) / (to - from)) * span;
  scale.ticks = (count) => {
    const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) || rough;
    const ticks = [];
    for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) ticks.push(Number(tick.toPrecision(12)));
    return ticks;
  };
  return scale;
};

U.log = (low, high, from, to) => {
  const inner = U.linear(Math.log10(low), Math.log10(high), from, to);
  const scale = (value) => inner(Math.log10(Math.max(value, low / 1e6)));
  scale.invert = (place) => 10 ** inner.invert(place);
  scale.ticks = (count) => {
    const decades = Math.log10(high / low);
    const factors = decades > count ? [1] : decades > 2.5 ? [1] : decades > 1 ? [1, 3] : [1, 2, 3, 5];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += Math.max(1, Math.ceil(decades / count))) {
      for (const factor of factors) {
        const tick = factor * 10 ** power;
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
    }
    return ticks.length > 1 ? ticks : [low, high];
  };
  return scale;
};

/* Round durations between two, about as many as asked for. */
U.timeTicks = (low, high, count) => {
  const round = [];
  for (let power = -6; power < 0; power += 1) round.push(10 ** power, 3 * 10 ** power);
  round.push(1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 36000, 86400, 259200, 864000, 2592000, 8640000, 31536000);
  let ticks = round.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  if (ticks.length < 2) return null;
  while (ticks.length > count) ticks = ticks.filter((_, index) => index % 2 === (ticks.length % 2 ? 0 : 1));
  return ticks;
};

U.legend = (items) =>
  U.el("div", { class: "legend" }, items.map(([text, color]) => U.el("span", { text, css: { "--c": `var(--${color})` } })));

/* A tooltip inside a chart, kept within its borders. */
U.tip = (holder) => {
  const tip = U.el("div", { class: "tip hidden", role: "status" });
  holder.append(tip);
  return {
    show(x, y, text) {
      tip.textContent = text;
      tip.classList.remove("hidden");
      const width = tip.offsetWidth;
      tip.style.left = `${Math.max(0, Math.min(holder.clientWidth - width, x + (x + width + 16 > holder.clientWidth ? -width - 12 : 12)))}px`;
      tip.style.top = `${Math.max(0, y - 10)}px`;
    },
    hide() { tip.classList.add("hidden"); },
  };
};

/* What a zoomable range may do; `changed` redraws. Ranges are kept in the scale's own terms (log where log). */
U.zoom = (node, state, changed) => {
  const move = (low, high) => {
    const [least, most] = state.full;
    const span = Math.max((most - least) * 1e-4, Math.min(most - least, high - low));
    const start = Math.max(least, Math.min(most - span, low));
    state.range = [start, start + span];
    changed();
  };
  const scaled = (factor, at) => {
    const [low, high] = state.range, middle = at ?? (low + high) / 2;
    move(middle - (middle - low) * factor, middle + (high - middle) * factor);
  };
  state.reset = () => { state.range = [...state.full]; changed(); };
  state.move = move;
  node.tabIndex = 0;
  node.addEventListener("keydown", (event) => {
    const [low, high] = state.range, step = (high - low) / 5;
    const act = {
      "+": () => scaled(0.6), "=": () => scaled(0.6), "-": () => scaled(1 / 0.6), "0": state.reset,
      ArrowLeft: () => move(low - step, high - step), ArrowRight: () => move(low + step, high + step), Escape: state.reset,
    }[event.key];
    if (act) { act(); event.preventDefault(); }
  });
  node.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    scaled(event.deltaY > 0 ? 1.25 : 0.8, state.at(event));
  }, { passive: false });
  let from = null;
  node.addEventListener("pointerdown", (event) => { if (event.button === 0 && event.pointerType !== "touch") from = state.at(event); });
  node.addEventListener("pointermove", (event) => { if (from !== null && state.mark) state.mark(from, state.at(event)); });
  window.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const to = state.at(event);
    if (state.mark) state.mark(null);
    if (Math.abs(to - from) > (state.range[1] - state.range[0]) * 0.02) move(Math.min(from, to), Math.max(from, to));
    from = null;
  });
  node.addEventListener("dblclick", state.reset);
};

const MARGIN = { left: 46, right: 14, top: 10, bottom: 34 };

/* Lines over one x axis. spec: {label, empty, height, x: {title, log, format}, y: {title, low, high, format}, lines: [{name, color, x, y,
   step, dash, area}], marks: [{x, text}]}. `update(spec)` replaces the data and keeps the zoom. */
U.lineChart = (spec) => {
  const holder = U.el("div", { class: "chart" });
  const state = { range: null, full: null };
  let current = spec, xScale = null, svg = null, band = null, tip = null;
  const toScale = (value) => (current.x.log ? Math.log10(value) : value);
  const fromScale = (value) => (current.x.log ? 10 ** value : value);
  const extent = () => {
    let low = Infinity, high = -Infinity;
    for (const line of current.lines) for (const x of line.x) {
      if (current.x.log && !(x > 0)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
    if (!(low < high)) [low, high] = low === high && low > 0 ? [low / 2, low * 2] : current.x.log ? [0.1, 10] : [0, 1];
    return [toScale(low), toScale(high)];
  };
  state.at = (event) => {
    const box = holder.getBoundingClientRect();
    return toScale(xScale.invert(Math.max(MARGIN.left, Math.min(box.width - MARGIN.right, event.clientX - box.left))));
  };
  state.mark = (from, to) => {
    if (!band) return;
    band.setAttribute("visibility", from === null ? "hidden" : "visible");
    if (from === null) return;
    const [a, b] = [xScale(fromScale(from)), xScale(fromScale(to))];
    band.setAttribute("x", Math.min(a, b));
    band.setAttribute("width", Math.abs(a - b));
  };
  const path = (line, yScale) => {
    let text = "", before = null;
    for (let i = 0; i < line.x.length; i += 1) {
      const x = line.x[i], y = line.y[i];
      if (y === null || y === undefined || (current.x.log && !(x > 0))) continue;
      const px = xScale(x).toFixed(1), py = yScale(y).toFixed(1);
      if (before === null) text += `M${px},${py}`;
      else text += line.step ? `H${px}V${py}` : `L${px},${py}`;
      before = py;
    }
    return text;
  };
  const draw = (width) => {
    const height = current.height || 260;
    const full = extent();
    const following = !state.range || (state.range[0] === state.full[0] && state.range[1] === state.full[1]);
    state.full = full;
    if (following) state.range = [...full];
    const [low, high] = state.range.map(fromScale);
    xScale = (current.x.log ? U.log : U.linear)(low, high, MARGIN.left, width - MARGIN.right);
    const yScale = U.linear(current.y.low ?? 0, current.y.high ?? 1, height - MARGIN.bottom, MARGIN.top);
    const fresh = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": current.label });
    const clip = `clip-${Math.random().toString(36).slice(2)}`;
    fresh.append(U.svg("defs", {}, U.svg("clipPath", { id: clip },
      U.svg("rect", { x: MARGIN.left, y: 0, width: Math.max(1, width - MARGIN.left - MARGIN.right), height: height - MARGIN.bottom + 1 }))));
    for (const tick of yScale.ticks(5)) {
      fresh.append(U.svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: yScale(tick), y2: yScale(tick) }));
      fresh.append(U.svg("text", { x: MARGIN.left - 6, y: yScale(tick) + 4, "text-anchor": "end", text: (current.y.format || U.number)(tick) }));
    }
    const wanted = Math.max(2, Math.floor(width / 90));
    for (const tick of (current.x.log && current.x.format === U.time && U.timeTicks(low, high, wanted)) || xScale.ticks(wanted)) {
      fresh.append(U.svg("line", { class: "grid", x1: xScale(tick), x2: xScale(tick), y1: MARGIN.top, y2: height - MARGIN.bottom }));
      fresh.append(U.svg("text", { x: xScale(tick), y: height - MARGIN.bottom + 15, "text-anchor": "middle", text: (current.x.format || U.number)(tick) }));
    }
    fresh.append(U.svg("text", { x: width - MARGIN.right, y: height - 4, "text-anchor": "end", text: current.x.title }));
    const lines = U.svg("g", { "clip-path": `url(#${clip})` });
    for (const line of current.lines) {
      const color = `var(--${line.color})`;
      const d = path(line, yScale);
      if (line.area && d) {
        const shown = line.x.filter((x) => !current.x.log || x > 0);
        lines.append(U.svg("path", { d: `${d}V${yScale(0)}H${xScale(shown[0])}Z`, css: { fill: color, opacity: ".1" } }));
      }
      lines.append(U.svg("path", { d, css: { fill: "none", stroke: color, "stroke-width": "2", "stroke-dasharray": line.dash || "none" } }));
      if (line.x.length === 1) lines.append(U.svg("circle", { cx: xScale(line.x[0]), cy: yScale(line.y[0]), r: 3, css: { fill: color } }));
    }
    for (const mark of current.marks || []) {
      const x = xScale(mark.x);
      lines.append(U.svg("line", { x1: x, x2: x, y1: MARGIN.top, y2: height - MARGIN.bottom, css: { stroke: "var(--soft)", "stroke-dasharray": "3 3" } }));
      lines.append(U.svg("text", { x: x - 4, y: MARGIN.top + 10, "text-anchor": "end", text: mark.text }));
    }
    fresh.append(lines);
    if (current.empty && !current.lines.some((line) => line.y.some((value) => value !== null && value !== undefined))) {
      fresh.append(U.svg("text", { x: (MARGIN.left + width - MARGIN.right) / 2, y: height / 2, "text-anchor": "middle", text: current.empty }));
    }
    band = U.svg("rect", { y: MARGIN.top, height: height - MARGIN.bottom - MARGIN.top, visibility: "hidden", css: { fill: "var(--shade)" } });
    const hair = U.svg("line", { y1: MARGIN.top, y2: height - MARGIN.bottom, visibility: "hidden", css: { stroke: "var(--soft)" } });
    fresh.append(band, hair);
    fresh.addEventListener("pointermove", (event) => {
      const at = fromScale(state.at(event)), x = xScale(at);
      hair.setAttribute("x1", x);
      hair.setAttribute("x2", x);
      hair.setAttribute("visibility", "visible");
      const values = current.lines.map((line) => `${line.name}: ${(current.y.format || U.number)(U.valueAt(line, at))}`);
      tip.show(x, MARGIN.top + 6, [(current.x.format || U.number)(at), ...values].join("\n"));
    });
    fresh.addEventListener("pointerleave", () => { hair.setAttribute("visibility", "hidden"); tip.hide(); });
    if (svg) svg.replaceWith(fresh); else holder.prepend(fresh);
    svg = fresh;
    zoomed.classList.toggle("hidden", state.range[0] === full[0] && state.range[1] === full[1]);
  };
  const zoomed = U.el("button", { type: "button", text: "Whole range", class: "hidden noprint", onclick: () => state.reset() });
  const again = U.responsive(holder, draw);
  tip = U.tip(holder);
  holder.setAttribute("role", "group");
  holder.setAttribute("aria-label", `${spec.label}. Keys: plus and minus zoom, arrows move, 0 shows all.`);
  U.zoom(holder, state, again);
  return { node: U.el("div", {}, holder, U.el("div", { class: "bar" }, zoomed)), update(next) { current = next; again(); }, state };
};

U.valueAt = (line, at) => {
  let low = 0, high = line.x.length - 1, found = -1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (line.x[middle] <= at) { found = middle; low = middle + 1; } else high = middle - 1;
  }
  return found < 0 ? (line.step ? line.before ?? null : line.y[0] ?? null) : line.y[found];
};

/* A canvas that fits its holder on every screen. */
U.canvas = (holder, height, label) => {
  const canvas = U.el("canvas", { role: "img", "aria-label": label });
  holder.prepend(canvas);
  return (width) => {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "11.5px system-ui, sans-serif";
    return pen;
  };
};

/* A dot on a canvas; a tiny one is a square, which looks the same and costs a tenth. */
U.dot = (pen, x, y, radius) => {
  if (radius < 2) { pen.fillRect(x - radius * 0.9, y - radius * 0.9, radius * 1.8, radius * 1.8); return; }
  pen.beginPath();
  pen.arc(x, y, radius, 0, 7);
  pen.fill();
};
