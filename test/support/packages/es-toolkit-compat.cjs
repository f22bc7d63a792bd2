// es-toolkit/compat for Jest: a function is loaded from its own file at first use. The package's own index has 430
// files, and @nestjs/swagger uses some twenty functions.
module.exports = new Proxy(
  {},
  {
    get: (_, name) =>
      name in Object.prototype || name === '__esModule' ? undefined : require(`es-toolkit/compat/${name}`),
  },
);
