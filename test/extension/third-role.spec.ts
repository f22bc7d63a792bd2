import { EDITOR } from './a-third-role';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Role, Roles } from '../../src/platform';
import { useTestApi } from '../support/test-api';

@Controller('drafts')
@Roles(EDITOR)
class DraftsController {
  @Get()
  list(): object {
    return {};
  }

  @Post()
  @Roles(Role.ADMIN)
  create(): object {
    return {};
  }
}

@Module({ controllers: [DraftsController] })
class DraftsModule {}

describe('A third role', () => {
  const api = useTestApi({ imports: [DraftsModule] });

  beforeAll(async () => {
    // Its migration.
    await api.app.nest.get(DataSource).query(`
      ALTER TABLE users DROP CONSTRAINT users_roles_known,
        ADD CONSTRAINT users_roles_known CHECK (roles <@ ARRAY['USER', 'ADMIN', 'EDITOR'] AND cardinality(roles) > 0)`);
  });

  it('is given by an administrator, and lets its holder do what it and the roles that it implies may', async () => {
    const [user, editor, admin] = [await api.user(), await api.user(), await api.admin()];
    const roles = [EDITOR];
    const give = await fetch(`${api.url}/api/v1/users/${editor.id}`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${admin.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ roles }),
    });
    expect([give.status, (await give.json()).data.roles]).toEqual([200, roles]);
    const { body } = await api.post('/auth/tokens', { username: editor.username, password: editor.password });
    const token = body.data.access_token as string;

    expect((await api.as(user).get('/drafts')).status).toBe(403);
    expect((await api.as({ token }).get('/drafts')).status).toBe(200);
    expect((await api.as(admin).get('/drafts')).status).toBe(200);
    expect((await api.as({ token }).post('/drafts')).status).toBe(403);
    expect((await api.as({ token }).get('/posts')).status).toBe(200);
    expect((await api.as({ token }).get('/orders')).status).toBe(200);
  });

  it('is named by the document', async () => {
    const { paths } = (await api.get('//docs/json')).body;

    expect(paths['/api/v1/drafts'].get.description).toBe('For administrators and editors.');
    expect(paths['/api/v1/drafts'].post.description).toBe('For administrators.');
    expect(paths['/api/v1/orders'].get.description).toContain('For everyone who signed in.');
  });
});
