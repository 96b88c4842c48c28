import 'reflect-metadata';
import { Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Holdfast } from 'holdfast';

const { REDIS_URL = '', LOCK_NAME = '' } = process.env;

@Injectable()
class Invoices implements OnModuleDestroy {
  constructor(private readonly client: Holdfast) {}

  async send(): Promise<void> {
    const hold = await this.client.getFencedLock(LOCK_NAME).lock();
    const second = await this.client.getFencedLock(LOCK_NAME).tryLock();
    await hold.unlock();
    console.log(JSON.stringify({ token: hold.token, second }));
  }

  async onModuleDestroy(): Promise<void> {
    await this.client.close();
  }
}

@Module({
  providers: [Invoices, { provide: Holdfast, useFactory: () => Holdfast.connect(REDIS_URL) }],
})
class App {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(App, { logger: ['error'] });
  await app.get(Invoices).send();
  await app.close();
}

void main();
