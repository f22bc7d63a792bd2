import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

const dockerfile = readFileSync('Dockerfile', 'utf8');
const stages = dockerfile.split(/^(?=FROM )/m).slice(1);
const image = stages.at(-1)!;
const { services } = load(readFileSync('compose.yaml', 'utf8')) as {
  services: Record<string, { security_opt: string[]; privileged?: boolean } & Record<string, unknown>>;
};

describe('The image', () => {
  it('runs as an unprivileged user, to whom nothing belongs but the folder of its data', () => {
    expect(image.match(/^USER .*/gm)).toEqual(['USER node']);
    expect(image.indexOf('USER node')).toBeLessThan(image.indexOf('CMD ["node", "--'));
    expect(dockerfile).not.toContain('--chown');
    expect(image).toMatch(/^ENV DATA_DIR=\/data\nRUN install -d -o node -g node -m 700 \/data$/m);
  });

  it('says when it is not ready', () => {
    expect(image).toMatch(/^HEALTHCHECK .*\\\n\s*CMD \["node", "dist\/platform\/process\/healthcheck.js"\]$/m);
  });

  it('holds the dependencies of production, by the lock file, and no tool of a developer', () => {
    const installs = dockerfile.match(/\bnpm (ci|i|install)\b.*/g)!;

    expect(installs.map((install) => install.replace(' \\', ''))).toEqual(['npm ci', 'npm ci --omit=dev']);
    expect(stages[1]).toContain('npm ci --omit=dev');
    expect(image).toContain('COPY --from=dependencies /app/node_modules');
  });

  it('takes nothing in that may be secret: what comes in is listed, and there are no build arguments', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').trim().split('\n');

    expect(ignored[0]).toBe('*');
    expect(ignored.slice(1).filter((line) => /env$|pem|\.data|\*/.test(line))).toEqual([]);
    expect(dockerfile).not.toMatch(/^ARG |^COPY \. |^ADD /m);
    const variables = dockerfile.match(/^ENV .*/gm);
    expect(variables).toEqual(['ENV NODE_ENV=production', 'ENV DATA_DIR=/data']);
  });
});

describe('compose.yaml', () => {
  it.each(Object.keys(services))('gives %s no way to more rights', (name) => {
    expect(services[name].security_opt).toEqual(['no-new-privileges:true']);
    expect(services[name].privileged).toBeUndefined();
    expect(JSON.stringify(services[name])).not.toContain('docker.sock');
  });

  it('gives the service no capability, and nothing to write to but its data', () => {
    expect(services.api).toMatchObject({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      volumes: ['api-data:/data'],
    });
    expect(services.api.pids_limit).toBeGreaterThan(0);
  });

  it('holds no password', () => {
    const passwords = JSON.stringify(services).match(/PASSWORD[^,]*/g)!;

    expect(passwords.length).toBeGreaterThan(0);
    for (const password of passwords) expect(password).toContain(':?set POSTGRES_PASSWORD}');
  });
});
