/** The part of its committed ratio that a work must keep. */
const KEPT = 0.9;

/**
 * Compares works with the committed results. A work that has lost too much is measured once more: a busy machine makes
 * one of many works slow, but seldom the same one twice.
 * @param committed ratios by the titles of works
 * @param measure resolves to the ratio of a work now; undefined if it could not be measured
 * @returns `{ text, isGood }`
 */
export async function checkWorks(works, committed, measure) {
  const lines = [];
  let compared = 0;
  let lost = 0;
  for (const work of works) {
    const before = committed.get(work.title);
    if (before === undefined) {
      lines.push(`new   ${work.title}: not in the committed results`);
      continue;
    }
    compared++;
    const ratios = [await measure(work)];
    if (!isKept(ratios[0], before)) ratios.push(await measure(work));
    const isGood = isKept(ratios.at(-1), before);
    if (!isGood) lost++;
    lines.push(`${isGood ? 'kept' : 'LOST'}  ${work.title}: ${before} committed, ${ratios.map(said).join(', then ')}`);
  }
  const summary = `${compared} works compared, ${lost} of them lost more than a tenth of their ratio to L0 twice in a row`;
  if (compared === 0) lines.push('The committed results have none of these works: npm run bench writes them');
  return { text: [...lines, summary].join('\n'), isGood: lost === 0 && compared > 0 };
}

function isKept(ratio, before) {
  return ratio !== undefined && ratio >= KEPT * before;
}

function said(ratio) {
  return ratio === undefined ? 'not measured' : `${ratio.toFixed(2)} now`;
}
