// The set-up of measurements: databases, servers, callers.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLUSTER, programOf, programsOf, REFERENCES, VARIANTS } from '../servers.mjs';
import { nestTokens } from './callers.mjs';
import {
  connect,
  copyUsersWithoutSearchIndex,
  createDatabase,
  describeData,
  dropDatabase,
  makeKeys,
  stockUp,
} from './database.mjs';
import { multiply, originalsOf } from './multiply.mjs';
import { chooseCores, moveMyself, movePostgres } from './pinning.mjs';
import { findPostmaster } from './postgres-cpu.mjs';
import { ProductClient } from './product-client.mjs';
import { makeSecrets } from './secrets.mjs';
import { startReceiver } from './receiver.mjs';
import { ServerProcess } from './server-process.mjs';

/** Everything that a run has set up. `cleanUp` undoes it. */
export class Bench {
  secrets = makeSecrets();
  /** Running servers, tokens and database clients, by the name of the server. */
  servers = {};
  tokens = {};
  clients = {};
  /** Clients of the API of each server that is the service. */
  apis = {};
  /** What is known about the rows of each database. */
  descriptions = {};
  /** The answers of the first server, by work. */
  expected = {};
  urls = {};

  /** @param options those of options.mjs */
  constructor(serverUrl, cleanUp, options) {
    const { pin, logs, node, before, processes } = options;
    this.options = options;
    this.serverUrl = serverUrl;
    this.cleanUp = cleanUp;
    this.cores = processes > 1 ? { reason: `${processes} processes need more than one core` } : chooseCores(pin);
    this.logs = logs;
    this.node = node;
    this.before = before;
    if (logs !== undefined) mkdirSync(logs, { recursive: true });
    this.directory = mkdtempSync(join(tmpdir(), 'resource-api-bench-'));
    cleanUp.add(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  /** Inserts the rows, and collects what the works need to know about them. */
  async fill({ users, products }) {
    await this.createDatabase('main', users, products);
    await copyUsersWithoutSearchIndex(this.clients.main);
    this.data = this.descriptions.main;
    this.postmaster = await findPostmaster(this.clients.main);
  }

  /** As many users and products, to compare with. */
  async fillLarge({ large }) {
    const { originals, factor } = originalsOf(large);
    await this.createDatabase('large', originals, originals, { factor });
  }

  /** For a variant of the service whose database differs. */
  async fillVariant(name, { users, products }) {
    await this.createDatabase(name, users, products);
    await VARIANTS[name].prepare(this.clients[name]);
  }

  /** The schema of another checkout may differ. */
  async fillBefore({ users, products }) {
    await this.createDatabase('before', users, products, { folder: this.before });
  }

  /** @returns a sentence about what is pinned to which core */
  pin() {
    const { server, others, reason } = this.cores;
    if (reason) return `Nothing is pinned: ${reason}.`;
    moveMyself(others);
    const moveBack = this.postmaster && movePostgres(this.postmaster, others);
    if (!moveBack) return `The server has core ${server}, wrk has core ${others}; PostgreSQL could not be pinned.`;
    this.cleanUp.add(moveBack);
    return `The server is alone on core ${server}; PostgreSQL and wrk share core ${others}.`;
  }

  /** What there is in the database of a server. */
  dataOf(name) {
    return this.descriptions[name] ?? this.data;
  }

  clientOf(name) {
    return this.clients[name] ?? this.clients.main;
  }

  /** What a work asks a server for beforehand: '' if for nothing, undefined if the server hasn't got it. */
  async prepared(work, name) {
    if (!work.prepare) return '';
    return this.apis[name] && work.prepare(this.apis[name], this.dataOf(name));
  }

  async start(name, moreOptions = []) {
    if (name in VARIANTS) this.receiver ??= await startReceiver(this.cleanUp);
    const folder = name === 'before' ? this.before : undefined;
    const { environment, nodeOptions = [], ...program } = programOf(name);
    const { processes } = this.options;
    const isReference = name in REFERENCES;
    const script = isReference && processes > 1 ? CLUSTER : (program.script ?? programsOf(folder).program);
    const shared = { PROCESSES: String(processes), ...(isReference && { SCRIPT: program.script }) };
    const DATABASE_URL = this.urls[name] ?? this.urls.main;
    const process = {
      name,
      script,
      folder,
      node: this.node,
      environment: { DATABASE_URL, ...shared, ...environment?.(this) },
    };
    const probe = `/api/v1/products/${this.dataOf(name).products.first}`;
    const { server: core } = this.cores;
    const server = await ServerProcess.start(process, {
      core,
      probe,
      nodeOptions: [...nodeOptions, ...moreOptions],
      logs: this.logs,
    });
    this.servers[name] = server;
    this.cleanUp.add(() => server.stop());
    return server;
  }

  /** Signs in once, after the first start of the product, because it knows the users. */
  async signIn() {
    const ofProduct = ['product', ...Object.keys(VARIANTS), 'before', 'large'];
    for (const name of ofProduct.filter((name) => this.servers[name])) {
      const client = new ProductClient(this.servers[name].url);
      client.tokens = this.tokens[name] ??= await client.signIn({ ...this.dataOf(name), ...this.secrets });
      this.apis[name] = client;
    }
    this.tokens.nest ??= nestTokens(this.secrets, this.data);
    // The other servers ignore the header. It has the same length for all.
    this.tokens.product ??= this.tokens.nest;
  }

  async createDatabase(key, users, products, { folder, factor = 1 } = {}) {
    const name = `resource_api_bench_${process.pid}_${key}`;
    this.cleanUp.add(() => dropDatabase(this.serverUrl, name));
    const { password } = this.secrets;
    this.urls[key] = await createDatabase(this.serverUrl, name, {
      users,
      products,
      password,
      directory: this.directory,
      folder,
    });
    this.clients[key] = await connect(this.urls[key]);
    this.cleanUp.add(() => this.clients[key].end());
    await stockUp(this.clients[key]);
    await makeKeys(this.clients[key]);
    if (factor > 1) await multiply(this.clients[key], factor);
    this.descriptions[key] = await describeData(this.clients[key]);
  }
}
