// Draws the panels of the dashboard as an SVG, with the data that Prometheus has for their queries.
const [WIDTH, HEIGHT, MARGIN, COLUMNS] = [420, 220, 36, 3];
const COLOURS = [
  '#1f77b4',
  '#ff7f0e',
  '#2ca02c',
  '#d62728',
  '#9467bd',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
  '#17becf',
];
const LEGEND = 4;

/** @param panels `[{ title, unit, series: [{ name, values }] }]` */
export function drawPanels(panels, { start, end }) {
  const rows = Math.ceil(panels.length / COLUMNS);
  const drawn = panels.map((panel, place) => {
    const [x, y] = [(place % COLUMNS) * WIDTH, Math.floor(place / COLUMNS) * HEIGHT];
    return `<g transform="translate(${x},${y})">${drawPanel(panel, start, end)}</g>`;
  });
  const size = `width="${COLUMNS * WIDTH}" height="${rows * HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="9"><rect ${size} fill="#fff"/>${drawn.join('')}</svg>`;
}

function drawPanel({ title, unit, series }, start, end) {
  const most = Math.max(...series.flatMap(({ values }) => values.map(([, value]) => value)), 0) || 1;
  const bottom = HEIGHT - MARGIN - LEGEND * 10;
  const x = (time) => MARGIN + ((time - start) / (end - start)) * (WIDTH - 2 * MARGIN);
  const y = (value) => bottom - (value / most) * (bottom - MARGIN);
  const lines = series.map(({ values }, place) => {
    const points = values.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    return `<polyline points="${points}" fill="none" stroke="${colour(place)}" stroke-width="1.3"/>`;
  });
  const legend = series.slice(0, LEGEND).map(({ name }, place) => {
    const at = bottom + 22 + place * 10;
    return `<text x="${MARGIN}" y="${at}" fill="${colour(place)}">${escape(name.slice(0, 70))}</text>`;
  });
  const axes = `<path d="M${MARGIN},${MARGIN} V${bottom} H${WIDTH - MARGIN}" stroke="#999" fill="none"/>`;
  const labels =
    `<text x="${MARGIN}" y="22" font-size="12" font-weight="bold">${escape(title)}</text>` +
    `<text x="2" y="${MARGIN + 4}">${round(most)}</text><text x="2" y="${bottom}">0</text>` +
    `<text x="${WIDTH - MARGIN}" y="22" text-anchor="end">${unit}</text>`;
  return `<g>${axes}${labels}${lines.join('')}${legend.join('')}</g>`;
}

const colour = (place) => COLOURS[place % COLOURS.length];
const round = (value) => (value >= 1e6 ? `${(value / 1e6).toFixed(0)}M` : String(Number(value.toPrecision(2))));
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
