const text = { type: 'string' };
const optionalText = { type: 'string', nullable: true };
const whole = { type: 'integer' };
const money = { type: 'number', minimum: 0 };
const time = { type: 'string', format: 'date-time' };
const shared = { id: whole, created_at: time, updated_at: time, version: whole, image: optionalText };
const editable = { name: text, description: optionalText, price: money, stock: whole };

export const user = object({ ...shared, username: text, name: optionalText, status: text });
export const product = object({ ...shared, ...editable, status: text });
export const newProduct = { ...object(editable), required: ['name', 'price'] };
export const changedProduct = object(editable);
export const idParameter = object({ id: whole });

function object(properties) {
  return { type: 'object', properties };
}
