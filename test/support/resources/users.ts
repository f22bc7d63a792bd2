import { CreateUserDto } from '../../../src/resources/users/user.dto';
import { User } from '../../../src/resources/users/user.entity';
import { aNewUser } from '../builders';
import { onOwner, plain } from '../prepared-request';
import { common, each, type Resource } from '../resource';
import { email, imageKey, oneOf, password, roles, text } from '../values';

export const users: Resource = {
  noun: 'users',
  requests: {
    'GET /api/v1/users': plain,
    'GET /api/v1/users/profile': plain,
    'GET /api/v1/users/:id': onOwner(),
    'POST /api/v1/users': () => ({ body: aNewUser() }),
    'PUT /api/v1/users/:id': onOwner(() => aNewUser({ password: undefined })),
    'PATCH /api/v1/users/:id': onOwner(() => ({ name: 'Another' })),
    'DELETE /api/v1/users/:id': onOwner(),
  },
  writable: {
    input: CreateUserDto,
    attributes: {
      username: text({ min: 3, max: 20 }),
      email,
      password,
      name: text({ max: 100, nullable: true }),
      image: imageKey,
      status: oneOf('ACTIVE', 'SUSPENDED'),
      roles,
    },
    required: ['username', 'email', 'password'],
    kept: ['status', 'roles'],
    replaceable: true,
    least: aNewUser,
  },
  collections: [
    {
      name: '/users',
      table: 'users',
      attributes: [...common, 'username', 'email', 'name', 'image', 'status', 'roles'],
      sortable: User,
      statuses: ['ACTIVE', 'SUSPENDED'],
      textsOf: ({ username, email, name }) => [username, email, name],
      fill: (own, _others, lines) =>
        each(lines, ({ text, index, even, dates }) => {
          const names = { username: `list${index}`, username_key: `list${index}`, name: even ? text : null };
          const address = { email: `${index}@list.example.com`, email_key: `${index}@list.example.com` };
          return own.insert('users', { ...names, ...address, status: even ? 'ACTIVE' : 'SUSPENDED', ...dates });
        }),
    },
  ],
};
