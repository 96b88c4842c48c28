/** The dashboard below `/locks` of each framework, as the guide says: each frees one holder, and says what it saw. */
import 'reflect-metadata';
import { createServer } from 'node:http';
import { serve } from '@hono/node-server';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import Fastify from 'fastify';
import { Holdfast } from 'holdfast';
import { createDashboard } from 'holdfast/dashboard';
import { Hono } from 'hono';
import next from 'next';

const { REDIS_URL = '', LOCK_NAME = '' } = process.env;
const TOKEN = 'known-to-operators-only';
const HOST = '127.0.0.1';
const bearer = { authorization: `Bearer ${TOKEN}` };

Object.assign(process.env, { DASHBOARD_TOKEN: TOKEN, NEXT_TELEMETRY_DISABLED: '1' });
const client = await Holdfast.connect(REDIS_URL);

class App {}
Module({})(App);

function listening(server) {
  return new Promise((resolve) => {
    server.listen(0, HOST, () => resolve({ port: server.address().port, close: () => server.close() }));
  });
}

const FRAMEWORKS = {
  http: ({ node }) => listening(createServer(node)),
  express({ node }) {
    const app = express();
    app.use(express.json());
    app.use('/locks', node);
    return listening(createServer(app));
  },
  async nest({ node }) {
    const app = await NestFactory.create(App, { logger: ['error'] });
    app.use('/locks', node);
    await app.listen(0, HOST);
    return { port: app.getHttpServer().address().port, close: () => app.close() };
  },
  async fastify({ node }) {
    const app = Fastify();
    app.all('/locks/*', (request, reply) => {
      reply.hijack();
      node(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await app.listen({ port: 0, host: HOST });
    return { port: app.server.address().port, close: () => app.close() };
  },
  hono({ fetch }) {
    const app = new Hono();
    app.all('/locks/*', (c) => fetch(c.req.raw));
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) =>
        resolve({ port, close: () => server.close() }),
      );
    });
  },
  /** Its route opens a dashboard of its own. */
  async next() {
    // `dev` compiles this one route in about a second; without it, `next build` comes first and takes twelve.
    // In this process, the server has a free port, and ends when the program does.
    const app = next({ dev: true, dir: import.meta.dirname, hostname: HOST, port: 0, quiet: true });
    await app.prepare();
    const { port, close } = await listening(createServer(app.getRequestHandler()));
    return {
      port,
      async close() {
        close();
        await app.close();
      },
    };
  },
};

/** Reads the stream until it shows the lock; answers the token for requests that change something. */
async function whenShown(base, key) {
  const response = await fetch(`${base}api/stream`, { headers: bearer });
  let text = '';
  for await (const chunk of response.body) {
    text += Buffer.from(chunk).toString();
    const [, hello] = /event: hello\ndata: (.*)\n\n/.exec(text) ?? [];
    if (hello !== undefined && text.includes(JSON.stringify(key))) return JSON.parse(hello).csrf;
  }
  throw new Error(`The stream ended: ${text}`);
}

async function visit(name, base) {
  const key = `${LOCK_NAME}:${name}`;
  const hold = await client.getLock(key).lock();
  const refused = await fetch(base);
  const page = await fetch(base, { headers: bearer });
  const html = await page.text();
  const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(html) ?? [];
  const csrf = await whenShown(base, key);
  const freed = await fetch(`${base}api/free`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', 'x-holdfast-csrf': csrf },
    body: JSON.stringify({ key, owner: hold.owner }),
  });
  return {
    refused: refused.status,
    page: page.status,
    policy: page.headers.get('content-security-policy')?.includes("script-src 'self'"),
    script: (await fetch(new URL(script, base), { headers: bearer })).status,
    freed: await freed.json(),
    isLocked: await client.getLock(key).isLocked(),
  };
}

const seen = {};
for (const [name, start] of Object.entries(FRAMEWORKS)) {
  const dashboard = createDashboard(client, { token: TOKEN, allowFree: true, audit: () => {} });
  const { port, close } = await start(dashboard);
  seen[name] = await visit(name, `http://${HOST}:${port}/locks/`);
  dashboard.close();
  await close();
}
console.log(JSON.stringify(seen));
await client.close();
process.exit();
