"use strict";
/* Many configurations: a canvas of intervals, a table that only holds the rows in sight, a comparison, and the timeline. */
U.Configurations = class {
  constructor(doc, fetchOne) {
    this.fetchOne = fetchOne;
    this.rows = [];
    this.values = [];
    this.names = doc.configurations.parameters;
    this.parameters = doc.parameters;
    this.sort = { column: 4, down: true };
    this.filter = "";
    this.picked = [];
    this.listeners = [];
    this.heads = ["#", "from", "runs", "mean", "low", "high", "time", "stopped", "failed"];
    this.take(doc.configurations, doc.answer ? doc.answer.number : 0);
  }

  take(table, answer) {
    if (!table.rows.length && answer === this.answer) return;
    this.answer = answer;
    table.rows.forEach((row, index) => {
      this.rows[row[0]] = row;
      if (table.values[index]) this.values[row[0]] = table.values[index];
    });
    this.order();
  }

  cell(number, column) { return column < 9 ? this.rows[number][column] : this.values[number][column - 9]; }

  order() {
    const { column, down } = this.sort, wanted = this.filter.trim().toLowerCase();
    const kept = [];
    for (const row of this.rows) if (row && (!wanted || this.matches(row[0], wanted))) kept.push(row[0]);
    kept.sort((a, b) => {
      const x = this.cell(a, column), y = this.cell(b, column);
      const empty = (x === null || x === undefined) - (y === null || y === undefined);
      if (empty) return empty;
      const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return (down ? -less : less) || a - b;
    });
    this.shown = kept;
    for (const listener of this.listeners) listener();
  }

  matches(number, wanted) {
    const found = /^#?(\d+)$/.exec(wanted);
    if (found) return number === Number(found[1]);
    const setting = /^([^=<>]+)\s*(=|<|>)\s*(.+)$/.exec(wanted);
    if (setting) {
      const column = this.names.findIndex((name) => name.toLowerCase() === setting[1].trim());
      if (column >= 0) {
        const value = this.values[number][column], other = setting[3].trim();
        if (setting[2] === "=") return String(value).toLowerCase() === other;
        return value !== null && (setting[2] === "<" ? value < Number(other) : value > Number(other));
      }
    }
    return this.rows[number][1].includes(wanted) || this.values[number].some((value) => String(value).toLowerCase().includes(wanted));
  }

  pick(number) {
    this.picked = this.picked.includes(number) ? this.picked.filter((each) => each !== number) : [...this.picked, number].slice(-2);
    for (const listener of this.listeners) listener();
  }
};

U.intervalsChart = (model) => {
  const height = 280, left = 40, right = 12, top = 10, bottom = 26;
  const holder = U.el("div", { class: "chart" });
  const begin = U.canvas(holder, height, "Mean utility of configurations with intervals, in the order of the table");
  const tip = U.tip(holder);
  const state = { full: [0, 1], range: [0, 1] };
  let x = null, y = null, list = [];
  const draw = (width) => {
    const pen = begin(width);
    list = model.shown.filter((number) => model.rows[number][2] > 0);
    const size = Math.max(1, list.length);
    const following = state.range[0] === state.full[0] && state.range[1] === state.full[1];
    state.full = [0, size];
    if (following || state.range[1] > size) state.range = [0, size];
    x = U.linear(state.range[0], state.range[1], left, width - right);
    y = U.linear(0, 1, height - bottom, top);
    pen.fillStyle = U.color("soft");
    pen.strokeStyle = U.color("grid");
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      pen.beginPath(); pen.moveTo(left, y(tick)); pen.lineTo(width - right, y(tick)); pen.stroke();
      pen.textAlign = "right"; pen.fillText(String(tick), left - 6, y(tick) + 4);
    }
    pen.textAlign = "left";
    pen.fillText(`${U.some(list.length, "configuration")} with runs${width > 420 ? ", in the order of the table" : ""}`, left, height - 6);
    const from = Math.max(0, Math.floor(state.range[0])), to = Math.min(list.length, Math.ceil(state.range[1]));
    const each = (width - left - right) / (state.range[1] - state.range[0]);
    const shades = Object.fromEntries(["answer", "default", "gamma", "soft", "ink"].map((each) => [each, U.color(each)]));
    const paint = (number, at) => {
      const row = model.rows[number], place = x(at + 0.5);
      const special = number === model.answer ? "answer" : number === 0 ? "default" : model.picked.includes(number) ? "gamma" : null;
      const thick = special ? 2.5 : Math.max(0.6, Math.min(4, each * 0.5));
      pen.fillStyle = shades[special || "soft"];
      pen.globalAlpha = special ? 1 : Math.min(0.55, 0.18 + each / 30);
      pen.fillRect(place - thick / 2, y(row[5]), thick, y(row[4]) - y(row[5]));
      if (row[3] === null) return;
      pen.globalAlpha = 1;
      pen.fillStyle = shades[special || "ink"];
      U.dot(pen, place, y(row[3]), special ? 4.5 : Math.max(0.8, Math.min(3, each / 3)));
    };
    const later = [];
    for (let at = from; at < to; at += 1) {
      const number = list[at];
      if (number === model.answer || number === 0 || model.picked.includes(number)) later.push(at); else paint(number, at);
    }
    for (const at of later) paint(list[at], at);
    pen.globalAlpha = 1;
  };
  const at = (event) => Math.floor(x.invert(event.clientX - holder.getBoundingClientRect().left));
  state.at = (event) => Math.max(0, Math.min(state.full[1], x.invert(event.clientX - holder.getBoundingClientRect().left)));
  holder.addEventListener("pointermove", (event) => {
    const number = list[at(event)];
    if (number === undefined) { tip.hide(); return; }
    const row = model.rows[number];
    tip.show(event.clientX - holder.getBoundingClientRect().left, 20, `configuration ${number} (${row[1]})\nmean ${U.number(row[3])}, between ${U.number(row[4])} and ${U.number(row[5])}\n${U.count(row[2])} runs, ${U.time(row[6])}`);
  });
  holder.addEventListener("pointerleave", () => tip.hide());
  const again = U.responsive(holder, draw);
  model.listeners.push(again);
  U.zoom(holder, state, again);
  holder.setAttribute("aria-label", "Configurations with their intervals. Keys: plus and minus zoom, arrows move, 0 shows all.");
  holder.setAttribute("role", "group");
  return holder;
};

U.virtualTable = (model) => {
  const tall = 28;
  const columns = [...model.heads, ...model.names];
  const times = [6];
  const head = U.el("tr");
  const buttons = columns.map((name, column) => {
    const button = U.el("button", { type: "button", text: name, onclick: () => {
      model.sort = { column, down: model.sort.column === column ? !model.sort.down : column >= 2 && column < 9 };
      model.order();
      draw(true);
    } });
    const th = U.el("th", { scope: "col", class: column < 9 && column !== 1 ? "number" : null }, button);
    head.append(th);
    return th;
  });
  head.prepend(U.el("th", { scope: "col", text: "compare" }));
  const body = U.el("tbody");
  const scroll = U.el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of configurations" }, U.el("table", {}, U.el("thead", {}, head), body));
  const spacer = (height) => U.el("tr", { "aria-hidden": "true" }, U.el("td", { colspan: String(columns.length + 1), css: { height: `${height}px`, padding: "0" } }));
  const line = (number) => {
    const box = U.el("input", { type: "checkbox", "aria-label": `Compare configuration ${number}`, "data-number": String(number), onchange: () => model.pick(number) });
    box.checked = model.picked.includes(number);
    const cells = columns.map((_, column) => {
      const value = model.cell(number, column);
      const text = times.includes(column) ? U.time(value) : column === 0 ? `#${value}` : column > 2 && column < 6 ? (value === null ? "–" : value.toFixed(3)) : U.value(value);
      return U.el("td", { class: column < 9 && column !== 1 ? "number" : null, text, title: column >= 9 ? text : null });
    });
    const kind = [number === model.answer ? "answer" : "", model.picked.includes(number) ? "picked" : ""].join(" ").trim();
    return U.el("tr", { class: kind || null }, U.el("td", {}, box), cells);
  };
  const printed = U.el("p", { class: "soft small onpaper" });
  let drawn = "", lines = new Map(), high = 460;
  const draw = (force) => {
    const first = Math.max(0, Math.floor(scroll.scrollTop / tall) - 8);
    const last = Math.min(model.shown.length, first + Math.ceil(high / tall) + 20);
    if (!force && drawn === `${first}-${last}`) return;
    drawn = `${first}-${last}`;
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.number : null;
    const kept = new Map(); /* a line whose numbers are the same stays as it is */
    for (const number of model.shown.slice(first, last)) {
      const row = model.rows[number], mark = `${number === model.answer} ${model.picked.includes(number)}`, known = lines.get(number);
      kept.set(number, known && known.row === row && known.mark === mark ? known : { row, mark, node: line(number) });
    }
    lines = kept;
    printed.textContent = `On paper: ${U.count(last - first)} of ${U.some(model.shown.length, "configuration")}, and no parameters. All of them are in the file that was printed.`;
    body.replaceChildren(spacer(first * tall), ...[...kept.values()].map(({ node }) => node), spacer((model.shown.length - last) * tall));
    if (focused) { const again = body.querySelector(`input[data-number="${Number(focused)}"]`); if (again && again !== document.activeElement) again.focus({ preventScroll: true }); }
    buttons.forEach((th, column) => {
      if (column === model.sort.column) th.setAttribute("aria-sort", model.sort.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
  };
  scroll.addEventListener("scroll", () => draw(false), { passive: true });
  new ResizeObserver((entries) => { high = entries[0].contentRect.height || high; draw(false); }).observe(scroll);
  model.listeners.push(U.responsive(scroll, () => draw(true)));
  draw(true);
  return U.el("div", {}, scroll, printed);
};

U.comparison = (model) => {
  const holder = U.el("div", { "aria-live": "polite" });
  let asked = 0;
  const render = async () => {
    const [one, other] = model.picked.length === 2 ? model.picked : model.picked.length === 1 ? [model.picked[0], model.answer] : [];
    U.clear(holder);
    if (one === undefined || one === other) { holder.append(U.el("p", { class: "soft small noprint", text: "Tick two configurations in the table to compare them; one alone is compared with the answer." })); return; }
    const side = (number) => { const row = model.rows[number]; return row[3] === null ? "not run yet" : `${row[3].toFixed(3)} (${row[4].toFixed(2)} to ${row[5].toFixed(2)}), ${U.count(row[2])} runs`; };
    const rows = model.names.map((name, column) => [name, model.values[one][column], model.values[other][column]]).filter(([, a, b]) => a !== b)
      .map(([name, a, b]) => [name, U.value(a), U.value(b)]);
    holder.append(U.el("h3", { text: `Configuration ${one} against ${other}` }),
      U.table(["", `#${one}`, `#${other}`], [["mean utility", side(one), side(other)], ...rows]));
    if (!rows.length) holder.append(U.soft("All their parameters are equal."));
    if (!model.fetchOne) return;
    const turn = (asked += 1);
    const [a, b] = await Promise.all([model.fetchOne(one), model.fetchOne(other)]);
    if (turn !== asked || !a || !b) return;
    holder.append(U.comparedRuns(a, b));
  };
  let before = null;
  model.listeners.push(() => { const now = model.picked.join(); if (now !== before) { before = now; render(); } });
  render();
  return holder;
};

/* Two configurations on the same instances: distributions, and on how many each was quicker. */
U.comparedRuns = (a, b) => {
  const of = new Map(b.runs.filter((run) => run.status === "finished").map((run) => [run.position, run.runtime_s]));
  const both = a.runs.filter((run) => run.status === "finished" && of.has(run.position));
  const quicker = both.filter((run) => run.runtime_s < of.get(run.position)).length;
  const doc = { answer: null, distributions: { of: a.of, utility: { t: [], u: [] }, curves: { [a.number]: a.distribution, [b.number]: b.distribution } } };
  const spec = U.distributionSpec(doc, [a.number, b.number]);
  spec.lines.forEach((line, index) => { line.color = index ? "default" : "answer"; line.name = `#${index ? b.number : a.number}`; });
  const words = a.of === "worth" ? `Both finished on ${both.length} common instances.` : `On ${both.length} instances that both solved, #${a.number} was quicker on ${quicker}.`;
  return U.el("div", {}, U.soft(words), U.legend([[`#${a.number}`, "answer"], [`#${b.number}`, "default"]]), U.lineChart({ ...spec, height: 200 }).node,
    U.el("details", {}, U.el("summary", { text: `Command lines` }), U.el("pre", { text: `${a.command}\n\n${b.command}` })));
};

U.configurationsCard = (doc, model) => {
  const search = U.el("input", { type: "search", placeholder: "number, value, or name = value", "aria-label": "Filter configurations" });
  let timer = 0;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { model.filter = search.value; model.order(); }, 120); });
  const found = U.el("span", { class: "soft small" });
  const count = () => { found.textContent = `${U.count(model.shown.length)} of ${U.some(model.rows.filter(Boolean).length, "configuration")}`; };
  model.listeners.push(count);
  count();
  return U.card("configurations", "Configurations", U.legend([["answer", "answer"], ["default", "default"], ["ticked", "gamma"]]), U.intervalsChart(model),
    U.el("div", { class: "bar scroll-tools" }, search, found), U.virtualTable(model), U.comparison(model));
};

/* Each parameter against mean utility: what was tried, the larger the more runs. */
U.parametersCard = (doc, model) => {
  const order = new Map((doc.importance.rows || []).map((row, index) => [row.name, index]));
  const chosen = [...model.parameters].sort((a, b) => (order.get(a.name) ?? 1e9) - (order.get(b.name) ?? 1e9));
  const holder = U.el("div", { class: "multiples" });
  let shown = 0;
  const more = U.el("button", { type: "button", class: "noprint", onclick: () => add(chosen.length) });
  const add = (until) => {
    for (const parameter of chosen.slice(shown, until)) holder.append(U.parameterFigure(parameter, model));
    shown = Math.min(until, chosen.length);
    more.classList.toggle("hidden", shown >= chosen.length);
    more.textContent = `Show all ${chosen.length} parameters`;
  };
  add(12);
  return U.card("parameters", "Parameters against mean utility", U.soft(`Every dot is a configuration that was run${order.size ? "; the parameters that matter most come first" : ""}.`),
    U.legend([["answer", "answer"], ["default", "default"]]), holder, U.el("div", { class: "bar" }, more));
};

U.parameterFigure = (parameter, model) => {
  const height = 130, left = 26, right = 8, top = 8, bottom = 20;
  const chart = U.el("div", { class: "chart" });
  const begin = U.canvas(chart, height, `${parameter.name} against mean utility`);
  const column = model.names.indexOf(parameter.name);
  const number = parameter.kind === "number";
  const draw = (width) => {
    const pen = begin(width), y = U.linear(0, 1, height - bottom, top);
    const choices = number ? [] : parameter.choices.map(String);
    const x = number ? (parameter.log ? U.log : U.linear)(parameter.low, parameter.high, left + 4, width - right - 4) : U.linear(-0.5, choices.length - 0.5, left, width - right);
    pen.strokeStyle = U.color("grid");
    pen.fillStyle = U.color("soft");
    for (const tick of [0, 0.5, 1]) {
      pen.beginPath(); pen.moveTo(left, y(tick)); pen.lineTo(width - right, y(tick)); pen.stroke();
      pen.textAlign = "right"; pen.fillText(String(tick), left - 5, y(tick) + 4);
    }
    const room = (width - left - right) / Math.max(1, choices.length) - 4;
    const name = (text) => {
      let kept = text.slice(0, 40);
      while (kept.length > 1 && pen.measureText(kept === text ? kept : `${kept}…`).width > room) kept = kept.slice(0, -1);
      return kept === text ? kept : `${kept}…`;
    };
    if (number) {
      pen.textAlign = "left"; pen.fillText(U.value(parameter.low), left, height - 5);
      pen.textAlign = "right"; pen.fillText(U.value(parameter.high), width - right, height - 5);
    } else if (room > 24) {
      pen.textAlign = "center";
      choices.forEach((choice, index) => pen.fillText(name(choice), x(index), height - 5));
    } else { pen.textAlign = "left"; pen.fillText(`${choices.length} values`, left, height - 5); }
    const shades = Object.fromEntries(["soft", "default", "answer"].map((each) => [each, U.color(each)]));
    const crowded = model.rows.length > 1000 ? 0.5 : 1; /* many dots are small ones */
    const dot = (at, radius) => {
      const row = model.rows[at], value = model.values[at] && model.values[at][column];
      if (!row || row[3] === null || value === null || value === undefined) return;
      const spread = number ? 0 : (((at * 7919) % 97) / 97 - 0.5) * 0.5;
      U.dot(pen, number ? x(value) : x(choices.indexOf(String(value)) + spread), y(row[3]), radius ?? crowded * Math.min(3.5, 1 + Math.log10(1 + row[2])));
    };
    pen.fillStyle = shades.soft;
    pen.globalAlpha = 0.4;
    for (let at = 1; at < model.rows.length; at += 1) dot(at);
    pen.globalAlpha = 1;
    pen.fillStyle = shades.default;
    dot(0, 4.5);
    pen.fillStyle = shades.answer;
    if (model.answer) dot(model.answer, 4.5);
  };
  const again = U.responsive(chart, draw);
  model.listeners.push(again);
  return U.el("figure", {}, U.el("figcaption", { text: parameter.name, title: parameter.name }), chart);
};

U.timelineCard = (doc) => {
  const card = U.card("timeline", "What each worker did");
  const holder = U.el("div", { class: "chart" });
  let data = doc.timeline, x = null, tall = 0, height = 60;
  const state = { full: [0, 1], range: [0, 1] };
  let begin = null, begunFor = 0;
  const colors = { finished: "good", timeout: "stopped" };
  const tip = U.tip(holder);
  const lanes = () => data.lane.reduce((most, lane) => Math.max(most, lane + 1), 1);
  const draw = (width) => {
    const count = lanes();
    if (!begin || begunFor !== count) {
      holder.querySelector("canvas")?.remove();
      begunFor = count;
      tall = count > 12 ? 12 : 22;
      height = count * tall + 24;
      begin = U.canvas(holder, height, "Timeline of the latest runs by worker");
    }
    const pen = begin(width), last = data.end.reduce((most, end) => Math.max(most, end), 1e-3);
    const following = state.range[0] === state.full[0] && state.range[1] === state.full[1];
    state.full = [data.start.length ? data.start[0] : 0, last];
    if (following) state.range = [...state.full];
    x = U.linear(...state.range, 30, width - 8);
    pen.fillStyle = U.color("soft");
    for (let lane = 0; lane < count; lane += 1) if (tall > 14 || lane % 4 === 0) { pen.textAlign = "right"; pen.fillText(String(lane + 1), 24, lane * tall + tall / 2 + 4); }
    for (const tick of x.ticks(Math.max(2, Math.floor(width / 120)))) { pen.textAlign = x(tick) > width - 24 ? "right" : "center"; pen.fillText(U.time(tick), Math.min(x(tick), width - 2), height - 5); }
    const shades = Object.fromEntries(["good", "stopped", "bad"].map((name) => [name, U.color(name)]));
    for (let i = 0; i < data.start.length; i += 1) {
      if (data.end[i] < state.range[0] || data.start[i] > state.range[1]) continue;
      const from = Math.max(30, x(data.start[i])), to = Math.min(width - 8, x(data.end[i]));
      pen.fillStyle = shades[colors[data.status[i]] || "bad"];
      pen.fillRect(from, data.lane[i] * tall + 2, Math.max(0.7, to - from - 0.4), tall - 4);
    }
  };
  state.at = (event) => Math.max(0, Math.min(state.full[1], x.invert(event.clientX - holder.getBoundingClientRect().left)));
  holder.addEventListener("pointermove", (event) => {
    const box = holder.getBoundingClientRect(), at = x.invert(event.clientX - box.left), lane = Math.floor((event.clientY - box.top) / tall);
    const index = data.start.findIndex((start, i) => data.lane[i] === lane && start <= at && at <= data.end[i]);
    if (index < 0) { tip.hide(); return; }
    tip.show(event.clientX - box.left, event.clientY - box.top, `run ${data.sequence[index]} of configuration ${data.configuration[index]}\n${data.status[index]} after ${U.time(data.end[index] - data.start[index])} on the clock`);
  });
  holder.addEventListener("pointerleave", () => tip.hide());
  const again = U.responsive(holder, draw);
  U.zoom(holder, state, again);
  holder.setAttribute("role", "group");
  holder.setAttribute("aria-label", "Timeline. Keys: plus and minus zoom, arrows move, 0 shows all.");
  card.append(U.legend([["finished", "good"], ["stopped at the captime", "stopped"], ["failed", "bad"]]), holder,
    U.soft(`The latest ${U.some(data.start.length, "run")}. Rows are workers, as far as the times tell.`));
  return { node: card, update(next) { data = next; again(); } };
};
