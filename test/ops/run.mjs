// npm run test:ops: checks the rules of ops/ by promtool, then has a real Prometheus scrape two instances under load, and
// asks it every query of the dashboard.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../browser/service.mjs';
import { load } from './load.mjs';
import { drawPanels } from './picture.mjs';
import { findPrometheus, freePort, Prometheus, promtool } from './prometheus.mjs';

const LOAD_SECONDS = 30;
const RULES = 'ops/prometheus/alerts.yml';
/** What Grafana puts in place of its variables. */
const VARIABLES = { $instance: '.*', $__rate_interval: '10s' };

const dashboard = JSON.parse(readFileSync('ops/grafana/dashboard.json', 'utf8'));
const panels = dashboard.panels.filter(({ targets }) => targets);

const steps = {
  'has rules that promtool accepts'() {
    promtool('check', 'rules', RULES);
    promtool('check', 'config', 'ops/prometheus/prometheus.yml');
  },

  'has alerts that fire when they should, and not before'() {
    promtool('test', 'rules', 'ops/prometheus/alerts.test.yml');
    const tests = readFileSync('ops/prometheus/alerts.test.yml', 'utf8');
    const names = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    assert.deepEqual(
      names.filter((name) => !tests.includes(name)),
      [],
    );
  },

  async 'scrapes both instances'({ prometheus, ports }) {
    const { activeTargets } = await prometheus.ask('targets');
    const up = activeTargets.filter(({ health }) => health === 'up').map(({ labels }) => labels.instance);
    assert.deepEqual(up.sort(), ports.map((port) => `127.0.0.1:${port}`).sort());
  },

  async 'has data for each query of the dashboard'({ prometheus, window, drawn }) {
    const empty = [];
    for (const { title, targets, fieldConfig } of panels) {
      const series = [];
      for (const { expr, legendFormat } of targets) {
        const found = (await prometheus.range(resolved(expr), window.start, window.end)).filter(hasValues);
        if (found.length === 0) empty.push(`${title}: ${expr}`);
        series.push(...found.map(({ metric, values }) => ({ name: nameOf(legendFormat, metric), values })));
      }
      drawn.push({ title, unit: fieldConfig.defaults.unit, series });
    }
    assert.deepEqual(empty, []);
  },

  async 'shows each instance where a panel tells them apart'({ prometheus, window, ports }) {
    const apart = panels
      .flatMap(({ targets }) => targets.map(({ expr }) => expr))
      .filter((expr) => /by \(instance\)/.test(expr));
    const ofOne = apart.filter((expr) => !expr.includes('api_silent_processes'));
    assert.ok(ofOne.length > 3);
    for (const expr of ofOne) {
      const found = await prometheus.range(resolved(expr), window.start, window.end);
      assert.equal(new Set(found.map(({ metric }) => metric.instance)).size, ports.length, expr);
    }
  },

  async 'evaluates all rules, and tells nobody of an instance that is down'({ prometheus }) {
    const { groups } = await prometheus.ask('rules');
    const rules = groups.flatMap((group) => group.rules);
    assert.deepEqual(
      rules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name}: ${lastError}`),
      [],
    );
    assert.equal(rules.find(({ name }) => name === 'InstanceDown').state, 'inactive');
  },
};

const hasValues = ({ values }) => values.length > 0;

function resolved(expr) {
  return Object.entries(VARIABLES).reduce((text, [name, value]) => text.replaceAll(name, value), expr);
}

const nameOf = (legend, metric) => legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');

/** Two instances, one of them of two processes, each with a database of its own. */
async function startInstances(ports, stops) {
  const settings = { DEMO_DATA: 'true', PUBLIC_RATE_LIMIT: '5', LOGIN_RATE_LIMIT: '3', LOG_LEVEL: 'info' };
  const services = [];
  for (const [place, port] of ports.entries()) {
    const service = await startService({ ...settings, METRICS_PORT: String(port), PROCESSES: String(place + 1) });
    stops.push(service.stop);
    services.push(service);
  }
  return services;
}

async function run() {
  const context = { ports: [await freePort(), await freePort()], drawn: [] };
  const stops = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().finally(() => process.exit(1)));
  try {
    const services = await startInstances(context.ports, stops);
    context.prometheus = await Prometheus.start(context.ports);
    stops.push(() => context.prometheus.stop());
    const start = Date.now() / 1_000;
    await load(
      services.map(({ url }) => url),
      LOAD_SECONDS,
    );
    context.window = { start, end: Date.now() / 1_000 };
    const passed = await perform(context);
    draw(context);
    return passed;
  } finally {
    await stop();
  }
}

async function perform(context) {
  let passed = 0;
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step(context);
      console.log(`✓ ${name}`);
      passed++;
    } catch (error) {
      console.error(`✗ ${name}\n${error.message}`);
    }
  }
  return passed;
}

function draw({ drawn, window }) {
  const { SCREENSHOTS } = process.env;
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  writeFileSync(join(SCREENSHOTS, 'dashboard.svg'), drawPanels(drawn, window));
}

const total = Object.keys(steps).length;
if (!findPrometheus()) {
  console.log('There is no prometheus and promtool: the tests with them are skipped (apt-get install prometheus)');
  console.log('0 passed, 0 failed');
} else {
  const passed = await run().catch((error) => {
    console.error(error);
    return 0;
  });
  console.log(`${passed} passed, ${total - passed} failed`);
  process.exitCode = passed === total ? 0 : 1;
}
