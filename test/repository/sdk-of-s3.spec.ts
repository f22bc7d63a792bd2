import { spawnSync } from 'node:child_process';

describe('The SDK of S3', () => {
  it('is loaded by a service with a bucket only', () => {
    const program = `
      require('./dist/app.module.js');
      const loaded = () => Object.keys(require.cache).some((name) => name.includes('@aws-sdk/client-s3'));
      const before = loaded();
      require('./dist/uploads/bytes/s3-byte-store.js');
      console.log(JSON.stringify([before, loaded()]));
      process.exit();`;
    const { stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });

    expect(JSON.parse(stdout)).toEqual([false, true]);
  });
});
