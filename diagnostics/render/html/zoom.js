// Makes the plots that hold their numbers zoomable by uPlot, with one cursor and one range of steps for all.
// Without this script, and on paper, the SVG of each plot stands.
(() => {
  const figures = [...document.querySelectorAll("figure.zoomable")];
  const sections = new Map(figures.map((figure) => [figure.closest("section"), figure]));
  const dashes = [[], [7, 3], [2, 2], [10, 3, 2, 3], [1, 4], [12, 5]];
  const charts = [];
  const inputs = [];
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (value) => (value === null || value === undefined ? "" : Number(value.toPrecision(4)).toString());

  function show(from, to) {
    for (const chart of charts) chart.setScale("x", { min: from, max: to });
  }

  // One chart moves all others and the fields with it.
  let moving = false;
  function follow(moved) {
    if (moving) return;
    moving = true;
    const { min, max } = moved.scales.x;
    show(min, max);
    for (const [from, to] of inputs) [from.value, to.value] = [Math.round(min), Math.round(max)];
    moving = false;
  }

  // A line from the axis upwards, over a share of the height.
  function drawAt(chart, step, name, share) {
    const { left, top, width, height } = chart.bbox;
    const x = chart.valToPos(step, "x", true);
    if (x < left || x > left + width) return;
    chart.ctx.fillStyle = color(name);
    chart.ctx.fillRect(x, top + height * (1 - share), devicePixelRatio, height * share);
  }

  function seriesOf(line, number) {
    const look = { stroke: () => color(`--c${number}`), width: 1.7, dash: dashes[number], spanGaps: true };
    const points = { show: line.steps.length < 3 };
    const one = { ...look, points, label: line.label, value: (chart, value) => short(value) };
    if (!line.high) return [one];
    return [
      { ...one, label: `${line.label}, least` },
      { ...one, label: `${line.label}, greatest` },
    ];
  }

  function build(figure) {
    const plot = JSON.parse(figure.querySelector("script").textContent);
    const tables = plot.lines.map((line) => (line.high ? [line.steps, line.low, line.high] : [line.steps, line.low]));
    const place = document.createElement("div");
    place.className = "zoomed";
    place.setAttribute("aria-hidden", "true");
    figure.querySelector(".drawing").after(place);
    const values = (chart, ticks) => ticks.map((tick) => (tick === null ? "" : short(tick)));
    const decades = (chart, ticks) => ticks.map((tick) => (Number.isInteger(Number(Math.log10(tick).toFixed(9))) ? tick : null));
    const grid = { stroke: () => color("--edge"), width: 1 };
    const axis = { stroke: () => color("--text"), grid, ticks: { show: false } };
    const upright = { ...axis, size: 64, values, grid: plot.logarithmic ? { ...grid, filter: decades } : grid };
    const options = {
      width: place.clientWidth,
      height: 230,
      scales: { x: { time: false }, y: { distr: plot.logarithmic ? 3 : 1, range: plot.zero ? (c, a, b) => [0, b] : undefined } },
      axes: [axis, upright],
      series: [{ label: "step" }, ...plot.lines.flatMap(seriesOf)],
      cursor: { sync: { key: "steps" } },
      hooks: {
        setScale: [(chart, key) => key === "x" && follow(chart)],
        draw: [(chart) => {
          for (const step of plot.marks) drawAt(chart, step, "--text", 0.06);
          for (const step of plot.nonfinite) drawAt(chart, step, "--error", 1);
        }],
      },
    };
    if (!plot.zero) delete options.scales.y.range;
    const chart = new uPlot(options, uPlot.join(tables), place);
    new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 230 })).observe(place);
    figure.classList.add("is-zoomed");
    figure.querySelector(".drawing").removeAttribute("tabindex");
    return chart;
  }

  function addField(form, text, value) {
    const label = document.createElement("label");
    label.textContent = text;
    const field = document.createElement("input");
    Object.assign(field, { type: "number", value, min: 0 });
    label.append(field);
    form.append(label);
    return field;
  }

  function addFields(section, first, range) {
    const form = document.createElement("form");
    form.className = "range";
    const pair = [addField(form, "Steps from ", range[0]), addField(form, " to ", range[1])];
    inputs.push(pair);
    const all = document.createElement("button");
    Object.assign(all, { type: "button", textContent: "Show all steps" });
    all.addEventListener("click", () => show(...range));
    form.append(all);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", () => {
      const [from, to] = pair.map((field) => Number(field.value));
      if (from < to) show(from, to);
    });
    first.before(form);
  }

  for (const figure of figures) charts.push(build(figure));
  if (charts.length === 0) return;
  const range = [Math.min(...charts.map((c) => c.data[0][0])), Math.max(...charts.map((c) => c.data[0].at(-1)))];
  for (const [section] of sections) addFields(section, section.querySelector("figure.zoomable"), range);
  show(...range);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((c) => c.redraw()));
})();
