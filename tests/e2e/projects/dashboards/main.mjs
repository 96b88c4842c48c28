/** The dashboard below `/locks` of each framework, as the guide says: each frees one holder, and says what it saw. */
import 'reflect-metadata';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
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
/** Far more than any step takes, also beside other tests. */
const STEP_MS = 120_000;

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

/** Rejects, and so ends the program, when a step takes too long. */
async function within(step, work) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${step} took more than ${STEP_MS} ms`)), STEP_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends a request on a connection of its own, and resolves to the response. Not by `fetch`: Next.js replaces it in this
 * process, and a stream is then left only when the garbage collector runs; and after leaving a stream, `fetch` connects
 * again in advance, to a connection that no server counts as idle and that keeps it from closing.
 */
function send(url, { body, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(STEP_MS);
    request(url, { agent: false, signal, ...options }, resolve)
      .on('error', reject)
      .end(body);
  });
}

/** The status, headers and text of a response. */
async function load(url, options) {
  const response = await send(url, options);
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

/** Reads the stream until it shows the lock; answers the token for requests that change something. */
async function whenShown(base, key) {
  const response = await send(`${base}api/stream`, { headers: { ...bearer, 'accept-encoding': 'gzip' } });
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined) throw new Error(`The stream is compressed: ${encoding}`);
  let told = '';
  for await (const chunk of response) {
    told += chunk;
    const [, hello] = /event: hello\ndata: (.*)\n\n/.exec(told) ?? [];
    if (hello !== undefined && told.includes(JSON.stringify(key))) return JSON.parse(hello).csrf;
  }
  throw new Error(`The stream ended: ${told}`);
}

async function visit(name, base) {
  const key = `${LOCK_NAME}:${name}`;
  const hold = await client.getLock(key).lock();
  const refused = await load(base);
  const page = await load(base, { headers: bearer });
  const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page.text) ?? [];
  const loaded = await load(new URL(script, base), { headers: bearer });
  const csrf = await whenShown(base, key);
  const freed = await load(`${base}api/free`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', 'x-holdfast-csrf': csrf },
    body: JSON.stringify({ key, owner: hold.owner }),
  });
  return {
    refused: refused.status,
    page: page.status,
    policy: page.headers['content-security-policy']?.includes("script-src 'self'"),
    script: loaded.status,
    freed: JSON.parse(freed.text),
    isLocked: await client.getLock(key).isLocked(),
  };
}

async function visitAll() {
  const seen = {};
  for (const [name, start] of Object.entries(FRAMEWORKS)) {
    const dashboard = createDashboard(client, { token: TOKEN, allowFree: true, audit: () => {} });
    const { port, close } = await within(`${name}: starting`, start(dashboard));
    seen[name] = await within(`${name}: the visit`, visit(name, `http://${HOST}:${port}/locks/`));
    dashboard.close();
    await within(`${name}: closing`, close());
  }
  return seen;
}

try {
  console.log(JSON.stringify(await visitAll()));
  await client.close();
  process.exit();
} catch (error) {
  // Next.js catches what nobody else does, and would keep the process alive.
  console.error(error);
  process.exit(1);
}
