let made = 0;

/** The body of a valid product, with the attributes that matter to the test. */
export const aProduct = (attributes: object = {}) => ({
  name: `Product ${++made}`,
  price: 9.95,
  stock: 10,
  ...attributes,
});

export const aPost = (attributes: object = {}) => ({ title: `Post ${++made}`, content: 'Some text.', ...attributes });

/** The body of an order: one item of each product, or the given number. */
export const anOrderOf = (...lines: ({ id: number } | [{ id: number }, number])[]) => ({
  items: lines.map((line) => {
    const [product, quantity] = Array.isArray(line) ? line : [line, 1];
    return { product_id: product.id, quantity };
  }),
});

let users = 0;
export const aNewUser = (attributes: object = {}) => ({
  username: `new-user-${++users}`,
  email: `new-user-${users}@example.com`,
  password: 'a password of a test',
  ...attributes,
});
