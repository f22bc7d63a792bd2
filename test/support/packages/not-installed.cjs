// A package that production doesn't have, for Jest.
throw Object.assign(new Error('The fast tests have no such package: see jest.fast.config.mjs'), {
  code: 'MODULE_NOT_FOUND',
});
