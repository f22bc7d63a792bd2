// The same package with its least costs. A hash of the service takes 16 ms of a core, and the tests make thousands (D-292).
const argon2 = require('../../../node_modules/@node-rs/argon2/index.js');

const LEAST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

module.exports = {
  ...argon2,
  hash: (password, costs) => argon2.hash(password, globalThis.areHashesCostly ? costs : { ...costs, ...LEAST }),
};
