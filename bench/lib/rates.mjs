/** The shares of a server's own maximum at which latency is measured, and the names of what comes of it. */
export const RATES = [
  { title: 'half of the maximum', share: 0.5, keyOf: (work) => `${work} at half` },
  { title: 'nine tenths of it', share: 0.9, keyOf: (work) => `${work} at nine tenths` },
];
