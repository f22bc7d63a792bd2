import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier';
import redos from 'eslint-plugin-redos';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  // What is generated, and calls of clients that are generated elsewhere.
  {
    ignores: [
      'dist',
      'node_modules',
      '.data',
      'coverage',
      'client/src/generated',
      'client/packed',
      'scripts/generators/calls',
    ],
  },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }],
      'no-control-regex': 'off',
    },
  },
  {
    // Regular expressions match input of callers: their time must be linear in the length of the text.
    files: ['src/**/*.ts'],
    plugins: { redos },
    rules: { 'redos/no-vulnerable': ['error', { ignoreErrors: false }] },
  },
  {
    // What isn't in a face of the platform may change without notice.
    files: ['src/**/*.ts'],
    ignores: ['src/platform/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '/platform/(?!(?:accounts|features|programs|testing)$)',
              message: 'Import it from src/platform or another face: features, accounts, programs, testing.',
            },
          ],
        },
      ],
    },
  },
  {
    // All of them keep what a request refers to in memory until a major collection, as docs/performance.md says.
    files: ['src/**/*.ts'],
    ignores: ['src/platform/testing/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: ":function AssignmentExpression[left.type='MemberExpression'] > :function.right",
          message: 'V8 allocates this function in the old generation. Assign it to a const first.',
        },
        {
          selector: 'PropertyDefinition[static=false] > :function.value',
          message:
            'The compiled constructor assigns this function to a property, so V8 allocates it in the old generation. Write a method.',
        },
        {
          selector: ":function ObjectExpression > Property[kind='get']",
          message: 'V8 makes a shape of its own for each such object. Write a class.',
        },
      ],
    },
  },
  {
    // Answers of the API are parsed JSON, whose type only the test's expectations check.
    files: ['test/**/*.ts', 'src/platform/testing/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.js', '**/*.cjs'],
    languageOptions: {
      globals: {
        require: 'readonly',
        setInterval: 'readonly',
        Buffer: 'readonly',
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        window: 'readonly',
        fetch: 'readonly',
        performance: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
      },
    },
  },
  prettier,
);
