// Builds JSON by string concatenation from rows with the text values of PostgreSQL.
const text = JSON.stringify;

export function userJson(row) {
  return (
    `{${shared(row)},"username":${text(row.username)},"name":${text(row.name)},` +
    `"image":${text(row.image)},"status":"${row.status}"}`
  );
}

export function productJson(row) {
  return (
    `{${shared(row)},"name":${text(row.name)},"description":${text(row.description)},` +
    `"price":${row.price},"stock":${row.stock},"status":"${row.status}","image":${text(row.image)}}`
  );
}

export function orderJson({ row, lines }) {
  return (
    `{${shared(row)},"user_id":${row.user_id},"status":"${row.status}",` +
    `"items":[${lines.map(lineJson).join()}],"total_amount":${row.total_amount}}`
  );
}

function lineJson({ product_id, quantity, name, price }) {
  return `{"product_id":${product_id},"quantity":${quantity},"name":${text(name)},"unit_price":${price}}`;
}

function shared(row) {
  return `"id":${row.id},"created_at":"${iso(row.created_at)}","updated_at":"${iso(row.updated_at)}","version":${row.version}`;
}

/** Converts `2026-01-31 12:00:00.5+00` to `2026-01-31T12:00:00.500Z`. */
function iso(timestamp) {
  const milliseconds = timestamp.slice(20, -3).padEnd(3, '0');
  return `${timestamp.slice(0, 10)}T${timestamp.slice(11, 19)}.${milliseconds}Z`;
}
