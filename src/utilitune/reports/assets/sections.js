"use strict";
/* The parts of the page, each a function of the document; `U.page` puts them in order. */
U.unit = (doc) => (doc.objective === "runtime" ? U.time : (value) => U.number(value, 4));

/* Utilities of answer and default on one scale from 0 to 1. */
U.utilityScale = (doc) => {
  const holder = U.el("div", { class: "chart" });
  let current = doc;
  const draw = (width) => {
    const { answer, default: usual, utilities } = current.standing;
    const rows = answer.configuration === usual.configuration ? [["answer", answer, "answer"]] : [["answer", answer, "answer"], ["default", usual, "default"]];
    const left = 62, right = 16, height = 34 * rows.length + 30;
    const x = U.linear(0, 1, left, width - right);
    const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": utilities });
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(U.svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 4, y2: height - 22 }));
      svg.append(U.svg("text", { x: x(tick), y: height - 6, "text-anchor": "middle", text: { 0: "0 worthless", 1: "1 perfect" }[tick] && width > 420 ? { 0: "0 worthless", 1: "1" }[tick] : U.number(tick) }));
    }
    rows.forEach(([name, side, color], row) => {
      const y = 22 + 34 * row, paint = `var(--${color})`;
      svg.append(U.svg("text", { x: 0, y: y + 4, class: "strong", text: name }));
      svg.append(U.svg("rect", { x: x(side.low), y: y - 7, width: Math.max(2, x(side.high) - x(side.low)), height: 14, rx: 7, css: { fill: paint, opacity: ".22" } }));
      if (side.mean === null) return;
      svg.append(U.svg("circle", { cx: x(side.mean), cy: y, r: 6, css: { fill: paint } }));
      const label = `${side.mean.toFixed(2)}`;
      const after = x(side.mean) < width - 70;
      svg.append(U.svg("text", { x: x(side.mean) + (after ? 10 : -10), y: y + 4, class: "strong", "text-anchor": after ? "start" : "end", text: label }));
    });
    U.clear(holder).append(svg);
  };
  const again = U.responsive(holder, draw);
  return { node: holder, update(next) { current = next; again(); } };
};

U.tile = (label, value, hint, color) =>
  U.el("div", { class: "tile" }, U.el("div", { class: "label", text: label }),
    U.el("div", { class: "value", text: value, css: color ? { color: `var(--${color})` } : {} }), hint ? U.el("div", { class: "hint", text: hint }) : null);

U.noAnswer = (doc) => (doc.state ? `No answer yet: ${doc.state.replace(/\.$/, "")}.` : "No answer yet.");

U.hero = (doc) => {
  const card = U.card("numbers", "The numbers");
  if (!doc.answer) {
    card.append(U.el("p", { text: U.noAnswer(doc) }));
    return { node: card, update() {} };
  }
  const scale = U.utilityScale(doc), below = U.el("div", {}, U.heroNumbers(doc));
  card.append(U.soft(`Mean utility, with intervals that hold together with probability ${U.number(100 * (1 - doc.promise.delta))} %.`), scale.node, below);
  return { node: card, update(next) { scale.update(next); U.clear(below).append(...U.heroNumbers(next)); } };
};

/* What stands below the scale: the numbers one by one, and what there is to say about them. */
U.heroNumbers = ({ standing, promise, progress, elapsed_s: elapsed, events }) => {
  const tiles = U.el("div", { class: "tiles" });
  const isDefault = standing.answer.configuration === standing.default.configuration;
  if (isDefault) tiles.append(U.tile("gain over the default", "–", "the answer is the default"));
  else if (standing.proved_gain !== null && standing.proved_gain !== undefined) {
    tiles.append(U.tile("proved gain over the default", standing.proved_gain > 0 ? `+${(Math.floor(standing.proved_gain * 1000) / 1000).toFixed(3)}` : "none yet", standing.gain, "good"));
  }
  if (!promise.refusal) {
    tiles.append(U.tile("ε: how far from the best, at most", promise.epsilon >= 1 ? "–" : U.enough(promise.epsilon), standing.epsilon_means, "epsilon"));
    if (promise.gamma !== null) tiles.append(U.tile("γ: share of configurations not covered", promise.gamma >= 1 ? "–" : U.enough(promise.gamma), "", "gamma"));
    tiles.append(U.tile("δ: chance that the promise fails", `${U.number(100 * promise.delta)} %`, "at most"));
  }
  tiles.append(U.tile("runs", U.count(progress.runs), `${U.time(progress.total_time_s)} in runs${progress.of_use ? ` (${progress.of_use} of it useful)` : ""}, ${U.time(elapsed)} on the clock`));
  const compared = promise.refusal ? progress.configurations : Math.min(progress.configurations, standing.compared ?? progress.configurations);
  const tried = standing.tried < compared ? `${U.count(standing.tried)} of them run, ` : "";
  const searched = standing.searched ? `; search has tried ${U.count(standing.searched)}` : "";
  tiles.append(U.tile("configurations compared", U.count(compared), promise.refusal ? "" : `${tried}${U.count(Math.min(compared, progress.alive))} not ruled out${searched}`));
  const outlook = standing.outlook && standing.outlook.sentence;
  const warnings = [promise.note, ...standing.failures.map((each) => `Failures: ${each.sentence}.`), ...events.filter((event) => event.kind === "warning").map((event) => event.text)];
  return [tiles, ...(outlook && !promise.refusal ? [U.el("div", { class: "note", text: outlook })] : []),
    ...warnings.filter(Boolean).map((text) => U.el("div", { class: "note warn", text }))];
};

/* ε, γ and δ in one picture: configurations from best to worst along x, their mean utility along y. */
U.promisePicture = (promise) => {
  const holder = U.el("div", { class: "chart", css: { "--halo": "var(--card)" } });
  const draw = (width) => {
    const height = 250, left = 20, right = 14, top = 26, bottom = 40;
    const gamma = promise.gamma === null ? 0 : Math.min(0.6, Math.max(0.04, promise.gamma));
    const epsilon = Math.min(0.6, Math.max(0.05, promise.epsilon));
    const x = U.linear(0, 1, left, width - right), y = U.linear(0, 1, height - bottom, top);
    const worth = (place) => 0.12 + 0.8 * (1 - place) ** 2.2;
    const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": promise.sentence });
    const points = Array.from({ length: 101 }, (_, i) => `${x(i / 100)},${y(worth(i / 100))}`);
    const best = worth(gamma), least = Math.max(0.02, best - epsilon);
    if (gamma) {
      svg.append(U.svg("rect", { x: x(0), y: top, width: x(gamma) - x(0), height: height - top - bottom, css: { fill: "var(--gamma)", opacity: ".14" } }));
      svg.append(U.svg("text", { x: x(0), y: top - 10, text: `γ = ${U.enough(promise.gamma)}: the best few, not covered`, css: { fill: "var(--gamma)" } }));
    }
    svg.append(U.svg("rect", { x: x(gamma), y: y(best), width: x(1) - x(gamma), height: y(least) - y(best), css: { fill: "var(--epsilon)", opacity: ".16" } }));
    svg.append(U.svg("polyline", { points: points.join(" "), css: { fill: "none", stroke: "var(--soft)", "stroke-width": "2" } }));
    svg.append(U.svg("line", { x1: x(gamma), x2: x(1), y1: y(best), y2: y(best), css: { stroke: "var(--epsilon)", "stroke-dasharray": "4 3" } }));
    svg.append(U.svg("text", { x: x(1), y: y(best) - 6, "text-anchor": "end", text: gamma ? "the best of all the others" : "the best of all", class: "strong" }));
    const below = y(least) + 15 < height - bottom - 2 ? y(least) + 15 : y(least) - 5;
    svg.append(U.svg("text", { x: x(1), y: below, "text-anchor": "end", text: width > 420 ? `within ε = ${U.enough(promise.epsilon)} of it: the answer is above this line` : `ε = ${U.enough(promise.epsilon)}: the answer is above this line`, css: { fill: "var(--epsilon)" } }));
    svg.append(U.svg("line", { x1: x(gamma), x2: x(1), y1: y(least), y2: y(least), css: { stroke: "var(--epsilon)", "stroke-width": "2" } }));
    svg.append(U.svg("circle", { cx: x(Math.min(0.95, gamma + 0.03)), cy: y((best + least) / 2 + (best - least) * 0.2), r: 6, css: { fill: "var(--answer)" } }));
    svg.append(U.svg("line", { class: "axis", x1: x(0), x2: x(1), y1: height - bottom, y2: height - bottom }));
    svg.append(U.svg("text", { x: x(0), y: height - bottom + 16, text: "all configurations, from the best" }));
    svg.append(U.svg("text", { x: x(1), y: height - bottom + 16, "text-anchor": "end", text: "to the worst" }));
    const failing = Math.max(1, Math.round(1 / promise.delta));
    svg.append(U.svg("text", { x: x(0), y: height - 6, text: `δ = ${U.number(promise.delta)}: ${width > 420 ? "on average " : ""}at most 1 of ${failing} such promises fails` }));
    U.clear(holder).append(svg);
  };
  U.responsive(holder, draw);
  return holder;
};

U.promiseCard = (doc) => {
  const { promise } = doc;
  const card = U.card("promise", "What is proved", U.el("p", { class: "promise", text: promise.sentence }));
  if (promise.last_phase) card.append(U.soft(promise.last_phase));
  if (!promise.refusal && promise.epsilon < 1 && (promise.gamma === null || promise.gamma < 1)) {
    card.append(U.promisePicture(promise), U.soft("A sketch of the meaning, not a measurement: nobody knows the true curve."));
  }
  return card;
};

/* A text to paste; lines break between its words, never after a hyphen. */
U.command = (text) => U.el("pre", {}, text.split(/(\s+)/).map((part) => (part.trim() ? U.el("span", { class: "word", text: part }) : part)));

U.answerCard = (doc) => {
  const { answer } = doc;
  const labels = { command: "Command line", json: "JSON", toml: "TOML", irace: "irace", smac: "SMAC" };
  const names = Object.keys(answer.forms);
  const tabs = U.tabs("The answer in other forms", names.map((name) => labels[name] || name), (label) => {
    const name = names.find((each) => (labels[each] || each) === label);
    return U.el("div", {}, U.command(answer.forms[name]), U.el("div", { class: "bar" }, U.copyButton(() => answer.forms[name])));
  });
  const rows = answer.differences.map((each) => [each.name, U.el("span", { class: "from", text: each.default }), U.el("span", { class: "to", text: each.value })]);
  return U.card("answer", `The answer: configuration ${answer.number}`, tabs,
    U.el("h3", { text: rows.length ? `What differs from the default (${rows.length} of ${answer.parameters} parameters)` : "It is the default: no parameter differs" }),
    rows.length ? U.table(["parameter", "default", "answer"], rows) : null);
};

U.trajectorySpec = (doc) => {
  const points = doc.trajectory;
  const lines = [{ name: "ε", color: "epsilon", x: points.time_s, y: points.epsilon, step: true }];
  if (points.gamma.some((value) => value !== null)) lines.push({ name: "γ", color: "gamma", x: points.time_s, y: points.gamma, step: true, dash: "5 4" });
  return { label: "ε and γ against time", empty: "Nothing is proved yet.", x: { title: "time in runs", log: true, format: U.time }, y: { format: U.number }, lines };
};

U.distributionSpec = (doc, numbers) => {
  const { of, curves, utility } = doc.distributions;
  const colors = ["answer", "default", "gamma", "good"];
  const name = (number) => (number === 0 ? "default" : doc.answer && number === doc.answer.number ? "answer" : `#${number}`);
  const lines = numbers.filter((number) => curves[number] && (curves[number].t.length || curves[number].end > 0)).map((number, index) => {
    const curve = curves[number];
    return { name: name(number), color: number === 0 ? "default" : colors[index % 4], x: [...curve.t, Math.max(curve.end, curve.t[curve.t.length - 1] || 0)], y: [...curve.p, curve.p[curve.p.length - 1] ?? 0], step: true, before: 0 };
  });
  if (utility.t.length) lines.push({ name: "worth of an answer", color: "soft", x: utility.t, y: utility.u, dash: "2 3", area: true });
  const worth = of === "worth";
  return {
    empty: worth ? "No run has found a solution yet." : "No run has finished yet.",
    label: worth ? "Share of runs worth at most so much" : "Share of runs finished within a time, and what an answer is worth then",
    x: worth ? { title: "worth of a run", log: false, format: U.number } : { title: "runtime", log: true, format: U.time },
    y: { format: (value) => (value === null ? "–" : U.number(value)) }, lines,
  };
};

U.distributionLegend = (doc) => U.legend([
  ...(doc.answer && doc.answer.number ? [["answer", "answer"], ["default", "default"]] : [["default", "default"]]),
  ...(doc.distributions.of === "worth" ? [] : [["worth of an answer after this time", "soft"]])]);

U.intervalText = (interval, format) => (interval ? `${format(interval[0])} to ${format(interval[1])}` : "too few instances for an interval");

U.heldoutCard = (doc) => {
  const found = doc.heldout;
  if (!found) return U.card("heldout", "On instances nobody has seen", U.soft("Not evaluated yet: “utilitune evaluate” runs the answer and the default on the test instances."));
  const signed = (value) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
  const [ours, theirs] = [found.chosen, found.default];
  const same = ours.configuration === theirs.configuration;
  const doc2 = { answer: { number: ours.configuration }, distributions: { of: "runtime", utility: doc.distributions ? doc.distributions.utility : { t: [], u: [] }, curves: { [ours.configuration]: found.distributions[0], [theirs.configuration]: found.distributions[1] } } };
  return U.card("heldout", "On instances nobody has seen",
    U.el("p", { class: "promise", text: found.verdict }),
    U.el("div", { class: "tiles" },
      same ? null : U.tile("gain in mean utility", signed(found.difference), U.intervalText(found.difference_interval, signed), "good"),
      same ? null : U.tile("speed-up", `${U.number(found.speed_up)}×`, U.intervalText(found.speed_up_interval, U.number)),
      U.tile("test instances", U.count(found.pairs), `stopped at ${U.time(found.captime_s)}`)),
    U.table(["", "answer", "default"], [
      ["mean utility", ours.mean_utility.toFixed(4), theirs.mean_utility.toFixed(4)],
      ["mean runtime", U.time(ours.mean_runtime_s), U.time(theirs.mean_runtime_s)],
      ["solved", U.count(ours.solved), U.count(theirs.solved)],
      ["stopped at the captime", U.count(ours.timeouts), U.count(theirs.timeouts)],
      ["failed", U.count(ours.failures), U.count(theirs.failures)]], [1, 2]),
    U.legend([["answer", "answer"], ["default", "default"]]),
    U.lineChart({ ...U.distributionSpec(doc2, same ? [ours.configuration] : [ours.configuration, theirs.configuration]), height: 220 }).node,
    U.soft("95 % intervals. That of the gain holds by proof for independent test instances; that of the speed-up holds approximately."),
    found.note ? U.el("div", { class: "note warn", text: found.note }) : null);
};

U.importanceCard = (doc) => {
  const { rows, note, skill } = doc.importance;
  const card = U.card("importance", "Which parameters matter");
  if (note) card.append(U.soft(note));
  if (!rows.length) return card;
  const most = Math.max(...rows.map((row) => row.high), 1e-9);
  const shown = rows.slice(0, 20);
  const holder = U.el("div", { class: "chart" });
  U.responsive(holder, (width) => {
    const left = Math.min(190, width * 0.36), height = 22 * shown.length + 8, x = U.linear(0, most, left, width - 56);
    const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Importance of parameters" });
    shown.forEach((row, index) => {
      const y = 14 + 22 * index;
      const label = row.name.length > left / 7 ? `${row.name.slice(0, Math.floor(left / 7) - 1)}…` : row.name;
      svg.append(U.svg("text", { x: left - 8, y: y + 4, "text-anchor": "end", text: label }));
      svg.append(U.svg("rect", { x: left, y: y - 6, width: Math.max(1, x(row.share) - left), height: 12, rx: 3, css: { fill: "var(--accent)", opacity: ".75" } }));
      svg.append(U.svg("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, css: { stroke: "var(--ink)", "stroke-width": "1.5" } }));
      svg.append(U.svg("text", { x: x(row.high) + 6, y: y + 4, text: U.number(row.share, 2) }));
    });
    U.clear(holder).append(svg);
  });
  card.append(U.soft(`By how much a model predicts mean utility worse when a parameter is shuffled, as a share of the variance. Lines: 90 % of folds and shuffles. On configurations it had not seen, the model explains ${Math.round(100 * skill)} % of the variance. Seen in the runs made; not proved.`), holder);
  if (rows.length > shown.length) card.append(U.soft(`The other ${rows.length - shown.length} parameters matter less.`));
  return card;
};

U.captimesCard = (doc) => {
  const card = U.card("captimes", "Captimes and how runs ended"), above = U.el("div"), holder = U.el("div", { class: "chart" }), below = U.el("div");
  let current = doc.captimes;
  const draw = (width) => {
    const { captime_s: levels, finished, stopped, failed } = current;
    const most = Math.max(1, ...levels.map((_, i) => finished[i] + stopped[i] + failed[i]));
    const left = 66, height = 22 * levels.length + 6, x = U.linear(0, most, left, width - 60);
    const svg = U.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "How runs ended, by captime" });
    levels.forEach((level, index) => {
      const y = 12 + 22 * index;
      svg.append(U.svg("text", { x: left - 8, y: y + 4, "text-anchor": "end", text: U.time(level) }));
      let start = 0;
      [finished, stopped, failed].forEach((counts, kind) => {
        const count = counts[index];
        svg.append(U.svg("rect", { x: x(start), y: y - 7, width: Math.max(0, x(start + count) - x(start)), height: 14, css: { fill: `var(--${["good", "stopped", "bad"][kind]})` } }));
        start += count;
      });
      svg.append(U.svg("text", { x: x(start) + 6, y: y + 4, text: U.count(start) }));
    });
    U.clear(holder).append(svg);
  };
  const again = U.responsive(holder, draw);
  const update = (next) => {
    current = next.captimes;
    const sum = (list) => U.count(list.reduce((total, value) => total + value, 0));
    U.clear(above).append(current.captime_s.length
      ? U.legend([[`finished ${sum(current.finished)}`, "good"], [`stopped at the captime ${sum(current.stopped)}`, "stopped"], [`failed ${sum(current.failed)}`, "bad"]])
      : U.soft("No runs yet."));
    U.clear(below).append(...(current.together ? [U.soft("There were many captimes: each line holds all from above the one before up to its own.")] : []));
    again();
  };
  update(doc);
  card.append(above, holder, below);
  return { node: card, update };
};

U.failuresCard = (doc) => {
  const card = U.card("failures", "Failures");
  if (!doc.failures.length) { card.append(U.soft("No run has failed.")); return card; }
  for (const each of doc.failures) {
    card.append(U.el("h3", { text: each.sentence }));
    if (each.detail) card.append(U.el("p", { class: "small", text: each.detail }));
    card.append(U.soft(`Of ${U.some(each.configurations, "configuration")}; an example is run ${each.example_run} of configuration ${each.example_configuration}.`));
    if (each.output) card.append(U.el("details", {}, U.el("summary", { text: "Its output, as far as it is kept" }), U.el("pre", { text: each.output })));
  }
  return card;
};

U.aboutCard = (doc) => {
  const facts = (entries) => U.el("dl", {}, entries.map(([name, value]) => [U.el("dt", { text: name }), U.el("dd", { text: String(value) })]));
  const { about } = doc;
  const last = about.sessions[about.sessions.length - 1];
  const card = U.card("about", "Scenario, versions, machine", facts(Object.entries(about.scenario)));
  if (doc.folder) card.append(facts([["run folder", doc.folder]]));
  if (last) {
    card.append(U.el("h3", { text: "Versions and machine of the latest start" }),
      facts([...Object.entries(last.versions), ...Object.entries(last.machine), ["workers", last.workers ?? "–"]]));
  }
  card.append(U.el("h3", { text: "Starts" }), U.table(["began", "ended", "why"], about.sessions.map((each) => [U.moment(each.started_at), U.moment(each.ended_at), each.why || "–"])));
  if (about.instances.length) card.append(U.el("details", {}, U.el("summary", { text: `Training instances (the first ${about.instances.length})` }), U.el("pre", { text: about.instances.join("\n") })));
  return card;
};
