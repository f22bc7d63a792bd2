// TypeORM's driver of another database, for Jest.
module.exports = new Proxy(
  {},
  {
    get: (_, name) => {
      throw new Error(`Jest has no ${String(name)} here: take its database out of OTHER_DRIVERS in jest.config.mjs`);
    },
  },
);
