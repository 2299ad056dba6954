"use strict";
/* The utility designer: words, questions or a curve to drag on one side; what that means and who would win on the other.
   The server says what a text means and who wins; this page only asks, shows, and moves points. */
(() => {
  const main = document.querySelector("main");
  const STEP = { worth: 0.02, time: 1.1 }, LARGE = { worth: 0.1, time: 1.5 };
  const state = { utility: "log-laplace(k0=60, alpha=1)", points: null, range: [1, 3600], curve: null, handles: [], source: "", before: [] };
  const shown = {};
  let begin = null, asking = false, again = false;

  const get = async (about, asked = {}) => {
    const answer = await fetch(`/api/designer/${about}?${new URLSearchParams(asked)}`, { headers: { accept: "application/json" } });
    if (!answer.ok) throw new Error(await answer.text());
    const found = await answer.json();
    if (found.problem) throw new Error(found.problem);
    return found;
  };

  /* -- the utility as it stands ------------------------------------------------------------------------------------------- */

  const remember = () => { if (state.before[state.before.length - 1] !== state.utility) state.before.push(state.utility); shown.undo.disabled = !state.before.length; };

  /* A text of the server's own is sure to be a utility and can be pasted at once; what somebody types is not. */
  const take = (utility, sure = true) => {
    if (utility === state.utility) return;
    remember();
    state.utility = utility;
    state.points = null;
    if (sure) shown.line.textContent = `utility = "${utility}"`;
    shown.copy.disabled = !sure;
    judge();
  };

  const number = (value, digits) => String(Number(value.toPrecision(digits)));
  const fromPoints = () => {
    const list = state.points;
    const close = (index) => list[index] && list[index + 1] && list[index + 1][0] < list[index][0] * 1.03;
    return `piecewise(${list.map(([time, worth], index) => `${number(time, close(index) || close(index - 1) ? 5 : 3)}s:${number(Math.round(worth * 1000) / 1000, 3)}`).join(", ")})`;
  };

  const moved = () => {
    state.utility = fromPoints();
    state.curve = locally();
    shown.curve.paint();
    shown.line.textContent = `utility = "${state.utility}"`;
    judge();
  };

  /* The curve of points between two answers of the server: straight lines in time, drawn on an axis that is logarithmic. */
  const locally = () => {
    const [low, high] = state.range, t = [], u = [];
    for (let step = 0; step <= 200; step += 1) t.push(low * (high / low) ** (step / 200));
    t.push(...state.points.map(([time]) => time));
    t.sort((a, b) => a - b);
    for (const time of t) {
      const next = state.points.findIndex(([other]) => other > time);
      if (next === 0) u.push(state.points[0][1]);
      else if (next < 0) u.push(state.points[state.points.length - 1][1]);
      else {
        const [[t0, w0], [t1, w1]] = [state.points[next - 1], state.points[next]];
        u.push(w0 + ((time - t0) / (t1 - t0)) * (w1 - w0));
      }
    }
    return { t, u };
  };

  const outside = (range) => state.points.some(([time]) => time < range[0] * 0.999 || time > range[1] * 1.001);

  /* One question at a time, and then the latest: a curve that is dragged never waits in a queue. */
  const judge = async () => {
    if (asking) { again = true; return; }
    asking = true;
    const asked = state.utility, began = performance.now();
    try {
      const found = await get("judge", { utility: asked, source: state.source });
      if (asked === state.utility) showUtility(found);
      showContest(found.contest);
      tell("");
      document.documentElement.dataset.judgedMs = (performance.now() - began).toFixed(1);
      document.documentElement.dataset.judged = asked;
    } catch (error) {
      if (asked === state.utility) { tell(error.message); shown.copy.disabled = true; }
    }
    asking = false;
    if (again) { again = false; judge(); }
  };

  const tell = (text) => { shown.problem.textContent = text; shown.problem.classList.toggle("hidden", !text); };

  const showUtility = (found) => {
    if (!state.points) {
      state.utility = found.utility;
      state.handles = found.handles;
      state.range = found.range;
      state.curve = found.curve;
    } else if (!shown.curve.held() && outside(state.range)) {
      state.range = found.range;
      state.curve = locally();
    }
    shown.line.textContent = found.line;
    shown.copy.disabled = false;
    shown.words.textContent = found.words;
    if (document.activeElement !== shown.expression) shown.expression.value = found.utility;
    shown.curve.paint();
    history.replaceState(null, "", `#u=${encodeURIComponent(state.utility)}`);
  };

  /* -- the curve ----------------------------------------------------------------------------------------------------------- */

  const curveChart = () => {
    const holder = U.el("div", { class: "chart curve" });
    const margin = { left: 42, right: 14, top: 14, bottom: 36 }, height = 300;
    let width = 0, x = null, y = null, held = null, line = null, area = null, dots = null, label = null, drawnFor = "", framing = false;
    const points = () => state.points || state.handles;
    const own = () => { if (!state.points) { remember(); state.points = state.handles.map((point) => [...point]); } else if (!held) remember(); };
    const place = (index, time, worth) => {
      own();
      const list = state.points, before = list[index - 1], after = list[index + 1];
      const [low, high] = [before ? before[0] * 1.002 : state.range[0] / 100, after ? after[0] / 1.002 : state.range[1] * 100];
      list[index] = [Math.min(Math.max(time, low), high), Math.min(Math.max(worth, after ? after[1] : 0), before ? before[1] : 1)];
      moved();
    };
    const at = (event) => {
      const box = holder.getBoundingClientRect();
      return [x.invert(event.clientX - box.left), y.invert(event.clientY - box.top)];
    };
    const add = (time, worth) => {
      own();
      const index = state.points.findIndex(([other]) => other > time), where = index < 0 ? state.points.length : index;
      const before = state.points[where - 1], after = state.points[where];
      state.points.splice(where, 0, [time, Math.min(Math.max(worth, after ? after[1] : 0), before ? before[1] : 1)]);
      moved();
      dots.children[where]?.focus();
    };
    const remove = (index) => {
      if (points().length < 2) return;
      own();
      state.points.splice(index, 1);
      moved();
      dots.children[Math.min(index, state.points.length - 1)]?.focus();
    };
    const widest = () => {
      const list = points();
      let best = 0, gap = 0;
      for (let index = 0; index + 1 < list.length; index += 1) {
        const wide = Math.log(list[index + 1][0] / list[index][0]);
        if (wide > gap) { gap = wide; best = index; }
      }
      if (!gap) return [list[0][0] * 2, list[0][1] / 2];
      const time = Math.sqrt(list[best][0] * list[best + 1][0]);
      return [time, U.valueAt({ x: state.curve.t, y: state.curve.u }, time)];
    };
    const keys = (event, index) => {
      const [time, worth] = points()[index], step = event.shiftKey ? LARGE : STEP;
      const act = {
        ArrowUp: () => place(index, time, worth + step.worth), ArrowDown: () => place(index, time, worth - step.worth),
        ArrowLeft: () => place(index, time / step.time, worth), ArrowRight: () => place(index, time * step.time, worth),
        Delete: () => remove(index), Backspace: () => remove(index), Insert: () => add(...widest()),
      }[event.key];
      if (act) { act(); event.preventDefault(); }
    };
    const dot = (index) => {
      const node = U.svg("g", { class: "handle", tabindex: 0, role: "slider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 1 },
        U.svg("circle", { class: "reach", r: 20 }), U.svg("circle", { class: "dot", r: 7 }));
      node.addEventListener("keydown", (event) => keys(event, index));
      node.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        node.focus();
        remember();
        held = index;
        node.setPointerCapture(event.pointerId);
        node.classList.add("held");
      });
      node.addEventListener("pointermove", (event) => { if (held === index) place(index, ...at(event)); });
      const drop = () => { if (held !== index) return; held = null; node.classList.remove("held"); moved(); };
      node.addEventListener("pointerup", drop);
      node.addEventListener("pointercancel", drop);
      node.addEventListener("focus", () => paint());
      node.addEventListener("blur", () => paint());
      return node;
    };
    const frame = () => {
      x = U.log(state.range[0], state.range[1], margin.left, width - margin.right);
      y = U.linear(0, 1, height - margin.bottom, margin.top);
      const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "The curve: what an answer is worth after a time" });
      for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
        svg.append(U.svg("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y(tick), y2: y(tick) }));
        svg.append(U.svg("text", { x: margin.left - 11, y: y(tick) + 4, "text-anchor": "end", text: U.number(tick) }));
      }
      const wanted = Math.max(3, Math.floor(width / 80));
      for (const tick of U.timeTicks(...state.range, wanted) || x.ticks(wanted)) {
        svg.append(U.svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: margin.top, y2: height - margin.bottom }));
        svg.append(U.svg("text", { x: x(tick), y: height - margin.bottom + 15, "text-anchor": "middle", text: U.time(tick) }));
      }
      svg.append(U.svg("text", { x: width - margin.right, y: height - 4, "text-anchor": "end", text: "answer after" }));
      svg.append(U.svg("text", { x: margin.left + 4, y: height - 4, text: "worth: 1 perfect, 0 worthless" }));
      const clip = U.svg("clipPath", { id: "curve-clip" }, U.svg("rect", { x: margin.left, y: 0, width: Math.max(1, width - margin.left - margin.right), height }));
      area = U.svg("path", { css: { fill: "var(--answer)", opacity: ".1" } });
      line = U.svg("path", { css: { fill: "none", stroke: "var(--answer)", "stroke-width": "2.5" } });
      dots = U.svg("g");
      label = U.svg("text", { class: "label" });
      svg.append(U.svg("defs", {}, clip), U.svg("g", { "clip-path": "url(#curve-clip)" }, area, line), dots, label);
      svg.addEventListener("dblclick", (event) => { if (!event.target.closest(".handle")) add(...at(event)); });
      U.clear(holder).append(svg);
    };
    const paint = () => {
      if (!width || !state.curve || framing) return;
      const wanted = `${width} ${state.range}`;
      if (wanted !== drawnFor && held === null) {
        const focused = dots ? [...dots.children].indexOf(document.activeElement) : -1;
        framing = true;  // a point that leaves the page loses its focus, which would paint again in between
        frame();
        framing = false;
        drawnFor = wanted;
        sync();
        if (focused >= 0) dots.children[focused]?.focus();
      } else sync();
    };
    const sync = () => {
      const { t, u } = state.curve;
      const way = t.map((time, index) => `${index ? "L" : "M"}${x(time).toFixed(1)},${y(u[index]).toFixed(1)}`).join("");
      line.setAttribute("d", way);
      area.setAttribute("d", `${way}V${y(0)}H${x(t[0])}Z`);
      const list = points();
      while (dots.children.length > list.length) dots.lastChild.remove();
      while (dots.children.length < list.length) dots.append(dot(dots.children.length));
      let talking = -1;
      list.forEach(([time, worth], index) => {
        const node = dots.children[index], said = `worth ${number(worth, 3)} after ${U.time(time)}`;
        node.setAttribute("transform", `translate(${x(time).toFixed(1)},${y(worth).toFixed(1)})`);
        node.setAttribute("aria-label", `Point ${index + 1} of ${list.length}`);
        node.setAttribute("aria-valuenow", worth.toFixed(3));
        node.setAttribute("aria-valuetext", said);
        if (node === document.activeElement || held === index) talking = index;
      });
      label.textContent = "";
      if (talking >= 0) {
        const [time, worth] = list[talking], right = x(time) > width / 2;
        label.textContent = `${number(worth, 3)} after ${U.time(time)}`;
        label.setAttribute("x", x(time) + (right ? 12 : 14));
        label.setAttribute("text-anchor", x(time) > width - 130 ? "end" : "start");
        if (x(time) > width - 130) label.setAttribute("x", x(time) - 12);
        label.setAttribute("y", Math.max(margin.top + 10, y(worth) - 12));
      }
    };
    U.responsive(holder, (found) => { width = found; paint(); });
    return { node: holder, paint, held: () => held !== null, add: () => add(...widest()) };
  };

  /* -- in words ------------------------------------------------------------------------------------------------------------ */

  const words = { sentence: "", on: new Map(), strictest: false };

  const later = (act, rest) => { let timer = 0; return () => { clearTimeout(timer); timer = setTimeout(act, rest); }; };

  const wordsPanel = () => {
    const area = U.el("textarea", { rows: 2, id: "sentence", "aria-describedby": "understood", placeholder: "nightly batch, useless after 10 minutes, 0.05 per hour" });
    area.value = words.sentence;
    const understood = U.el("div", { id: "understood", "aria-live": "polite" });
    const read = async () => {
      words.sentence = area.value;
      if (!area.value.trim()) { U.clear(understood); return; }
      const asked = area.value;
      try {
        const found = await get("said", { text: asked });
        if (asked !== area.value) return;
        const list = U.el("ul", { class: "understood" }, found.parts.map((part) => U.el("li", {}, U.el("b", { text: part.phrase }), `: ${part.words}`)));
        U.clear(understood).append(list);
        if (found.parts.length > 1) understood.append(together(found));
        if (found.names.length) understood.append(U.soft(`Taken as a name, without a meaning: ${found.names.join(", ")}`));
        take(found.utility);
      } catch (error) {
        if (asked === area.value) U.clear(understood).append(U.el("div", { class: "note warn", role: "alert", text: error.message }));
      }
    };
    const together = (found) => {
      const smallest = found.utility.startsWith("minimum");
      const radio = (text, value) => {
        const box = U.el("input", { type: "radio", name: "together", ...(smallest === value ? { checked: "" } : {}) });
        box.addEventListener("change", () => {
          words.strictest = value;
          const plain = area.value.replace(/[,;]?\s*(the )?strictest( \w+)?|[,;]?\s*whichever is (the )?(worse|less|lower)/gi, "").replace(/\s+$/, "");
          area.value = value ? `${plain}, the strictest counts` : plain;
          read();
        });
        return U.el("label", { class: "field" }, box, text);
      };
      return U.el("fieldset", {}, U.el("legend", { text: "Together:" }), radio("each takes its share", false), radio("the strictest counts", true));
    };
    area.addEventListener("input", later(read, 250));
    const compose = () => {
      const phrases = begin.situations.filter((each) => words.on.has(each.name)).map((each) => {
        const values = words.on.get(each.name);
        return each.phrase.replace(/\{(\w+)\}/g, (_, name) => values[name]);
      });
      area.value = phrases.join(", ") + (words.strictest && phrases.length > 1 ? ", the strictest counts" : "");
      read();
    };
    const list = U.el("ul", { class: "situations" }, begin.situations.map((each) => situation(each, compose)));
    if (words.sentence) read();
    return U.el("div", {}, U.el("label", { for: "sentence", class: "small", text: "Say it in your own words, or tick what fits. Several can be said together." }), area, understood, list);
  };

  const situation = (each, compose) => {
    const item = U.el("li", { class: words.on.has(each.name) ? "on" : "" });
    const box = U.el("input", { type: "checkbox" });
    box.checked = words.on.has(each.name);
    const inputs = each.blanks.map((blank) => {
      const input = U.el("input", { type: "text", "aria-label": blank.question });
      input.value = words.on.get(each.name)?.[blank.name] ?? blank.usual;
      input.addEventListener("input", later(() => { if (words.on.has(each.name)) { words.on.get(each.name)[blank.name] = input.value; compose(); } }, 250));
      return [blank, input];
    });
    box.addEventListener("change", () => {
      if (box.checked) words.on.set(each.name, Object.fromEntries(inputs.map(([blank, input]) => [blank.name, input.value])));
      else words.on.delete(each.name);
      item.classList.toggle("on", box.checked);
      compose();
    });
    item.append(U.el("label", { class: "choice" }, box, U.el("span", { text: each.title })),
      U.el("div", { class: "blanks" }, inputs.map(([blank, input]) => U.el("label", { class: "field" }, blank.question, input))));
    return item;
  };

  /* -- a few questions ----------------------------------------------------------------------------------------------------- */

  const talk = { best: "1 s", worst: "1 h", choices: [], begun: false };

  const questionsPanel = () => {
    const panel = U.el("div");
    const step = async (focus) => {
      try {
        const found = await get("ask", { best: talk.best, worst: talk.worst, choices: talk.choices.join(",") });
        U.clear(panel).append(found.question ? question(found) : result(found));
        ((focus && panel.querySelector(focus)) || panel.querySelector("[data-first]"))?.focus();
      } catch (error) {
        talk.choices.pop();
        if (!talk.choices.length) talk.begun = false;
        panel.querySelector(".note")?.remove();
        panel.append(U.el("div", { class: "note warn", role: "alert", text: error.message }));
      }
    };
    const answer = (choice, focus) => { talk.choices.push(choice); step(focus); };
    const back = () => U.el("button", { type: "button", text: "Back", onclick: () => { if (talk.choices.length) { talk.choices.pop(); step(); } else { talk.begun = false; start(); } } });
    const question = ({ question: asked, questions }) => {
      const choice = (name, what, time) => {
        const button = U.el("button", { type: "button", "data-choice": name, ...(name === "sure" ? { "data-first": "" } : {}) }, U.el("span", { class: "what", text: what }), U.el("span", { class: "time", text: time }));
        button.addEventListener("click", () => answer(name, `[data-choice="${name}"]`));
        return button;
      };
      const own = U.el("input", { type: "text", "aria-label": "A sure time that is as good as the coin" });
      own.addEventListener("keydown", (event) => { if (event.key === "Enter" && own.value.trim()) answer(own.value.trim().replaceAll(",", "."), ""); });
      const steps = U.el("div", { class: "steps", "aria-hidden": "true" });
      for (let index = 1; index <= questions; index += 1) steps.append(U.el("i", { class: index < asked.number ? "done" : index === asked.number ? "now" : "" }));
      return U.el("div", {}, steps,
        U.el("p", { role: "status", id: "question", text: `Question ${asked.number} of ${questions}, choice ${asked.choice}: which would you rather have?` }),
        U.el("div", { class: "choices" }, choice("sure", "surely, an answer after", asked.sure), choice("gamble", "a fair coin decides: an answer after", `${asked.good} or ${asked.bad}`)),
        U.el("div", { class: "bar" }, U.el("button", { type: "button", "data-choice": "same", text: "They are the same to me", onclick: () => answer("same", "") }), back(),
          U.el("label", { class: "field" }, "or a sure time as good as the coin:", own)));
    };
    const result = ({ fit }) => {
      take(fit.utility);
      const grade = fit.inconsistency <= 0.03 ? "" : fit.inconsistency <= 0.08 ? " rough" : " bad";
      return U.el("div", {},
        U.el("p", { role: "status", tabindex: -1, "data-first": "" }, "Your answers are closest to ", U.el("code", { text: fit.utility }), "."),
        U.el("p", {}, "Inconsistency ", U.el("span", { class: `score${grade}`, text: fit.inconsistency.toFixed(3) }), " ", fit.words),
        U.table(["a coin between", "as good as surely", "the curve says", "off by"], fit.answers.map((each) => [`${each.good} and ${each.bad}`, each.said, each.curve, each.error.toFixed(2)]), [3]),
        U.el("div", { class: "bar" }, U.el("button", { type: "button", text: "Use this utility", onclick: () => { take(fit.utility); shown.copy.focus(); } }),
          back(), U.el("button", { type: "button", text: "Begin again", onclick: () => { talk.choices = []; talk.begun = false; start(); } })));
    };
    const start = () => {
      const field = (text, name) => {
        const input = U.el("input", { type: "text" });
        input.value = talk[name];
        input.addEventListener("input", () => { talk[name] = input.value; });
        input.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
        return U.el("label", { class: "field" }, text, input);
      };
      const go = () => { talk.begun = true; talk.choices = []; step(); };
      U.clear(panel).append(
        U.el("p", { text: "Four questions of a few choices each: would you rather have an answer surely after some time, or let a coin decide between a shorter and a longer one? There is no right answer." }),
        U.el("div", { class: "bar" }, field("The quickest answer you hope for", "best"), field("An answer is useless after", "worst")),
        U.el("div", { class: "bar" }, U.el("button", { type: "button", text: "Begin", onclick: go })));
    };
    if (talk.begun) step(); else start();
    return panel;
  };

  /* -- by hand ------------------------------------------------------------------------------------------------------------- */

  const handPanel = () => {
    const smooth = U.el("div", { "aria-live": "polite" });
    const nearest = async () => {
      try {
        const fit = await get("smooth", { utility: state.utility });
        take(fit.utility);
        U.clear(smooth).append(U.el("p", { class: "small", text: `${fit.utility}: ${fit.words}` }));
      } catch (error) { U.clear(smooth).append(U.el("div", { class: "note warn", text: error.message })); }
    };
    const key = (text) => U.el("kbd", { text });
    const examples = ["log-laplace(k0=1m)", "step(deadline=10m)", "uniform(k0=1h)", "plateau(start=10s, end=2m)", "exponential(k0=5m)", "product(step(10m), cost-per-hour(value=1, rate=0.05))"];
    return U.el("div", {},
      U.el("p", {}, "Drag the points of the curve, or go to one with ", key("Tab"), " and move it with the arrow keys: up and down change the worth, left and right the time, with ", key("Shift"), " in larger steps. ", key("Delete"), " removes a point; ", key("Insert"), " or a double click adds one."),
      U.el("div", { class: "bar" }, U.el("button", { type: "button", text: "Add a point", onclick: () => shown.curve.add() }), U.el("button", { type: "button", text: "Take the nearest family", onclick: nearest })),
      smooth, U.el("h3", { text: "Begin with a formula" }),
      U.el("div", { class: "bar" }, examples.map((text) => U.el("button", { type: "button", text, onclick: () => take(text, false) }))));
  };

  /* -- who would win ------------------------------------------------------------------------------------------------------- */

  const showContest = (contest) => {
    state.contest = contest;
    if (contest.problem) {
      shown.verdict.textContent = contest.problem;
      shown.note.textContent = shown.stability.textContent = shown.chip.textContent = "";
      U.clear(shown.ranking);
      U.clear(shown.strip);
      return;
    }
    shown.verdict.textContent = contest.verdict;
    shown.chip.textContent = `On ${begin.sources.find((each) => each.key === state.source)?.name}, ${contest.rows.find((row) => row.number === contest.winner).name} would win.`;
    shown.stability.textContent = contest.stability;
    shown.note.textContent = contest.note;
    shown.drawRanking();
    shown.drawStrip();
  };

  const color = (number) => {
    if (number === state.contest.winner) return "answer";
    const others = [...new Set(state.contest.shifts.map((each) => each.number))].filter((each) => each !== state.contest.winner);
    return ["gamma", "good", "stopped", "default", "bad"][Math.max(0, others.indexOf(number)) % 5];
  };

  const drawRanking = (width) => {
    const contest = state.contest;
    if (!contest || contest.problem || !width) return;
    const rows = contest.rows, left = Math.min(150, width * 0.36), right = width < 480 ? 64 : 120, size = 28, height = rows.length * size + 26;
    const low = Math.min(...rows.map((row) => row.low)), high = Math.max(...rows.map((row) => row.high)), pad = Math.max(0.01, (high - low) * 0.08);
    const x = U.linear(Math.max(0, low - pad), Math.min(1, high + pad), left, width - right);
    const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": rows.map((row) => `${row.name}: ${row.low.toFixed(3)} to ${row.high.toFixed(3)}`).join("; ") });
    for (const tick of x.ticks(Math.max(2, Math.floor((width - left - right) / 90)))) {
      svg.append(U.svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 2, y2: height - 20 }));
      svg.append(U.svg("text", { x: x(tick), y: height - 5, "text-anchor": "middle", text: U.number(tick) }));
    }
    rows.forEach((row, index) => {
      const y = 16 + index * size, won = row.number === contest.winner;
      const paint = `var(--${won ? "answer" : row.name === "the default" ? "default" : "soft"})`;
      svg.append(U.svg("text", { x: 0, y: y + 4, class: won ? "strong" : null, text: row.name.length * 6.4 > left - 8 ? row.name.replace("configuration", "config.") : row.name }));
      const from = x(row.low), wide = Math.max(7, x(row.high) - from);
      svg.append(U.svg("rect", { x: wide > 7 ? from : from - 3.5, y: y - 6, width: wide, height: 12, rx: 6, css: { fill: paint, opacity: won ? ".9" : ".5" } }));
      const exact = row.low.toFixed(3) === row.high.toFixed(3);
      svg.append(U.svg("text", { x: width, y: y + 4, "text-anchor": "end", class: won ? "strong" : null, text: exact ? row.low.toFixed(3) : width < 480 ? `${row.low.toFixed(2)}–${row.high.toFixed(2)}` : `${row.low.toFixed(3)} to ${row.high.toFixed(3)}` }));
    });
    U.clear(shown.ranking).append(svg);
  };

  const drawStrip = (width) => {
    const contest = state.contest;
    if (!contest || contest.problem || !width) return;
    const height = 62, x = U.log(1 / 16, 16, 4, width - 4);
    const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": contest.stability });
    contest.shifts.forEach((each, index) => {
      const from = index ? Math.sqrt(contest.shifts[index - 1].to * each.from) : 1 / 16;
      const to = index + 1 < contest.shifts.length ? Math.sqrt(each.to * contest.shifts[index + 1].from) : 16;
      const [a, b] = [x(from), x(to)], paint = `var(--${color(each.number)})`;
      const title = U.svg("title", { text: `${each.name}: times from ${U.number(from, 2)} to ${U.number(to, 2)} of yours` });
      svg.append(U.svg("rect", { x: a, y: 8, width: Math.max(1, b - a - 1), height: 22, rx: 3, css: { fill: paint, opacity: each.number === contest.winner ? ".85" : ".4" } }, title));
      const text = each.name.replace("configuration ", "#").replace("the ", "");
      const space = each.from <= 1 && each.to >= 1 ? (x(1) - a > b - x(1) ? [a, x(1)] : [x(1), b]) : [a, b];
      if (space[1] - space[0] > text.length * 7 + 8) svg.append(U.svg("text", { x: (space[0] + space[1]) / 2, y: 23, "text-anchor": "middle", text, css: { fill: each.number === contest.winner ? "var(--card)" : "var(--ink)", "font-weight": "600" } }));
    });
    svg.append(U.svg("line", { x1: x(1), x2: x(1), y1: 3, y2: 36, css: { stroke: "var(--ink)", "stroke-width": "2" } }));
    for (const [factor, text] of [[1 / 16, "1/16"], [1 / 4, "1/4"], [1, "your times"], [4, "4 ×"], [16, "16 ×"]]) {
      svg.append(U.svg("text", { x: x(factor), y: 50, "text-anchor": factor < 0.1 ? "start" : factor > 10 ? "end" : "middle", text }));
    }
    U.clear(shown.strip).append(svg);
  };

  /* -- the page ------------------------------------------------------------------------------------------------------------ */

  const curveCard = () => {
    shown.curve = curveChart();
    shown.words = U.el("p", { "aria-live": "polite", id: "meaning" });
    shown.problem = U.el("div", { class: "note warn hidden", role: "alert" });
    shown.expression = U.el("input", { type: "text", class: "wide", id: "expression", spellcheck: "false", "aria-label": "The utility as a formula" });
    shown.expression.addEventListener("input", later(() => take(shown.expression.value, false), 300));
    shown.undo = U.el("button", { type: "button", text: "Undo", disabled: "", onclick: () => { state.utility = state.before.pop(); state.points = null; shown.undo.disabled = !state.before.length; judge(); } });
    shown.chip = U.el("p", { class: "runline small" });
    return U.card("curve", "Your utility", shown.curve.node, shown.chip, shown.words, U.el("div", { class: "bar" }, shown.undo), U.el("label", { for: "expression", class: "soft small", text: "As a formula, to be edited by whoever likes formulas:" }), shown.expression, shown.problem);
  };

  const lineCard = () => {
    shown.line = U.el("code");
    shown.copy = U.copyButton(() => shown.line.textContent);
    return U.card("line", "The line to paste", U.el("div", { class: "paste" }, U.el("pre", { tabindex: 0 }, shown.line), shown.copy),
      U.soft("Put it into scenario.toml in place of the line that begins with utility. In Python, hand the text between the quotes to utility=…"));
  };

  const contestCard = () => {
    shown.verdict = U.el("p", { class: "verdict", "aria-live": "polite", id: "verdict" });
    shown.ranking = U.el("div", { class: "chart" });
    shown.strip = U.el("div", { class: "chart" });
    shown.stability = U.el("p", { class: "small", id: "stability" });
    shown.note = U.el("p", { class: "soft small" });
    shown.drawRanking = U.responsive(shown.ranking, drawRanking);
    shown.drawStrip = U.responsive(shown.strip, drawStrip);
    const source = U.el("select", {}, begin.sources.map((each) => U.el("option", { value: each.key, text: each.name })));
    source.value = state.source;
    source.addEventListener("change", () => { state.source = source.value; judge(); });
    return U.card("contest", "Who would win", U.el("div", { class: "bar" }, U.el("label", { class: "field" }, "Tried on", source)), shown.verdict,
      U.el("h3", { text: "Mean utility of the best, with bounds that hold for every curve at once" }), shown.ranking,
      U.el("h3", { text: "Who would win if all your times were shorter or longer" }), shown.strip, shown.stability, shown.note);
  };

  const start = async () => {
    const home = U.el("a", { class: "small", href: "/", text: "Runs" });
    document.body.prepend(U.el("header", { class: "top" }, U.el("div", {}, U.el("a", { class: "brand", href: "/" }, U.el("b", { text: "utili" }), "tune"), U.el("h1", { text: "Utility designer" }), U.el("span", { class: "spacer" }), home, U.theme())));
    try { begin = await get("begin"); } catch (error) { U.clear(main).append(U.el("p", { text: `The server does not answer: ${error.message}` })); return; }
    const first = begin.sources.find((each) => each.key.startsWith("run:")) || begin.sources.find((each) => each.key === "lookalike:minisat");
    state.source = first.key;
    state.utility = first.utility || state.utility;
    const given = /[#&]u=([^&]*)/.exec(location.hash);
    if (given) { try { state.utility = decodeURIComponent(given[1]); } catch { /* not ours */ } }
    const panels = { "In words": wordsPanel, "A few questions": questionsPanel, "By hand": handPanel };
    const cards = [curveCard(), lineCard(), contestCard()];
    const ways = U.card("ways", "What is an answer worth to you?", U.tabs("Ways to find a utility", Object.keys(panels), (name) => panels[name]()));
    U.clear(main).append(
      U.el("p", { class: "lead", text: "A utility says what an answer is worth after a time: 1 is perfect, 0 is worthless. Say it in words, answer a few questions, or move the curve. Every change shows at once who would win." }),
      U.el("div", { class: "columns" }, ways, U.el("div", {}, cards[0], cards[1])), cards[2]);
    try { /* the curve comes first: of a large run, who would win takes seconds to find out once */
      const asked = state.utility, found = await get("judge", { utility: asked });
      if (asked === state.utility) showUtility(found);
      shown.chip.textContent = "Who would win is being worked out …";
    } catch { /* told by what follows */ }
    judge();
  };
  start();
})();
