/** SPDX names of licences that allow the use of a package in any service, even a proprietary one. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
]);

/** Packages whose package.json has no licence, and the licence in their files. */
const FOUND = new Map([['pause@0.0.1', 'MIT']]);

/** @param packages the output of `npm query` */
export function unknownLicences(packages) {
  const named = packages.map((one) => ({ name: `${one.name}@${one.version}`, licence: licenceOf(one) }));
  return { packages: named.length, unknown: named.filter(({ licence }) => !ALLOWED.has(licence)) };
}

/** Old packages have an object, or a list of them. */
function licenceOf({ name, version, license, licenses }) {
  const [first, ...others] = [license ?? licenses].flat().map((one) => one?.type ?? one);
  if (others.length > 0) return [first, ...others].join(' OR ');
  return first ?? FOUND.get(`${name}@${version}`);
}
