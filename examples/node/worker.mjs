// A complete Kagzi worker on plain gRPC; docs/workers-in-other-languages.md explains it.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';

const namespace = 'default', task_queue = 'shop', CONCURRENCY = 10, DRAIN_MS = 30_000;
const ADDRESS = process.env.KAGZI_ADDRESS ?? 'localhost:50051';
const PROTOS = process.env.KAGZI_PROTOS
  ?? fileURLToPath(new URL('../../kagzi-protocol/src/main/protobuf', import.meta.url));

// ---- Workflows. What is outside of steps is executed again at every replay: it only computes.

async function post(order, path, signal) {
  const answer = await fetch(`${order.shop}/${path}`, { method: 'POST', body: order.item, signal });
  if (answer.ok) return answer.text();
  throw Object.assign(new Error(`${path} answered ${answer.status}`), { nonRetryable: answer.status < 500 });
}

const workflows = {
  async order(run, order) {
    const payment = await run.step('charge', (signal) => post(order, 'charge', signal));
    await run.sleep('cool-off', order.coolOffSeconds);
    try {
      const retry = { maximum_attempts: 3, initial_interval_ms: 200 };
      return `${payment}, ${await run.step('ship', (signal) => post(order, 'ship', signal), retry)}`;
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error;
      return `${await run.step('refund', (signal) => post(order, 'refund', signal))}: ${error.message}`;
    }
  },
};

// ---- Calls. All but PollTask are safe to repeat, so a call without an answer is sent again.

const { WorkerService } = grpc.loadPackageDefinition(loader.loadSync('kagzi/v1/worker.proto',
  { includeDirs: [PROTOS], keepCase: true, enums: String, longs: Number, defaults: true })).kagzi.v1;
const client = new WorkerService(ADDRESS, grpc.credentials.createInsecure()), code = grpc.status;
let worker_id, heartbeat_interval_secs, draining = false;

function send(method, request, seconds) {
  const header = new grpc.Metadata();
  if (worker_id) header.set('kagzi-worker-id', worker_id);
  return new Promise((resolve, reject) => client[method](request, header,
    { deadline: Date.now() + seconds * 1000 }, (error, answer) => error ? reject(error) : resolve(answer)));
}

async function call(method, request) {
  for (let delay = 100; ; delay = Math.min(2 * delay, 5000)) {
    try {
      return await send(method, request, 10);
    } catch (error) {
      if (![code.UNAVAILABLE, code.DEADLINE_EXCEEDED, code.RESOURCE_EXHAUSTED].includes(error.code)) throw error;
      await pause(delay);
    }
  }
}

// ---- One run, from its first line: BeginStep returns the results that are recorded already.

class Stop extends Error {} // somebody else continues the run, or it continues later
class StepFailed extends Error {} // the step has failed and is not tried again
const encode = (value) => ({ data: Buffer.from(JSON.stringify(value ?? null)) });
const decode = (payload) => payload?.data?.length ? JSON.parse(payload.data) : null;
const detail = (e) => ({ message: `${Buffer.from(String(e.message ?? e).slice(0, 1000))}`, // as a replay sees it
  non_retryable: !!e.nonRetryable || e.code === code.INVALID_ARGUMENT }); // such as a result too large

async function execute({ run_id, epoch, workflow_type, input }, signal) {
  const report = (method, what) => call(method, { namespace, run_id, epoch, ...what }).catch((error) => {
    if (error.code === code.ABORTED) throw new StepFailed(error.details); // a recorded failure
    if (error.code !== code.FAILED_PRECONDITION) throw error; // refused
    console.log(`run ${run_id}: stopped, ${error.message}`); // claim lost
    throw new Stop();
  });
  const run = {
    async step(step_name, body, retry_policy) {
      const begun = await report('BeginStep', { step_name, kind: 'STEP_KIND_FUNCTION', retry_policy });
      if (!begun.should_execute) return decode(begun.cached_output);
      try {
        const output = encode(await body(signal));
        await report('CompleteStep', { step_id: begun.step_id, output });
        return decode(output); // as a replay sees it
      } catch (error) {
        if (error instanceof Stop) throw error;
        const failed = await report('FailStep', { step_id: begun.step_id, error: detail(error) });
        throw failed.scheduled_retry ? new Stop() : new StepFailed(detail(error).message);
      }
    },
    async sleep(step_name, seconds) {
      const begun = await report('BeginStep', { step_name, kind: 'STEP_KIND_SLEEP' });
      if (!begun.should_execute) return;
      await report('Sleep', { step_id: begun.step_id, duration: { seconds } });
      throw new Stop(); // PollTask hands the run out again when the sleep is over
    },
  };
  try {
    await report('CompleteWorkflow', { output: encode(await workflows[workflow_type](run, decode(input))) });
  } catch (error) {
    if (!(error instanceof Stop)) await report('FailWorkflow', { error: detail(error) });
  }
}

// ---- The worker: registers, sends heartbeats, polls while it has a free slot, drains on SIGTERM.

const held = new Set(), instance_id = randomUUID(), workflow_types = Object.keys(workflows);

async function register() {
  ({ worker_id, heartbeat_interval_secs } = await call('Register', { namespace, task_queue, workflow_types,
    instance_id, hostname: hostname(), pid: process.pid, queue_concurrency_limit: CONCURRENCY }));
}

async function sendHeartbeats() {
  for (;; await pause(heartbeat_interval_secs * 1000)) try {
    const beat = await send('Heartbeat', { worker_id, claims: [...held], active_count: held.size }, 5);
    const gone = [...beat.lost, ...beat.cancelled].map((claim) => claim.run_id + claim.epoch);
    held.forEach((claim) => gone.includes(claim.run_id + claim.epoch) && claim.stop.abort());
    if (beat.should_drain) drain();
  } catch (error) {
    if (error.code === code.NOT_FOUND && !draining) await register(); // the server gave this worker up
  }
}

async function poll() {
  while (!draining) try {
    if (held.size >= CONCURRENCY) await Promise.race([...held].map((claim) => claim.done));
    const task = await send('PollTask', { namespace, worker_id, task_queue, workflow_types }, 30);
    if (!task.run_id) continue; // nothing to do until now
    const claim = { run_id: task.run_id, epoch: task.epoch, stop: new AbortController() };
    claim.done = execute(task, claim.stop.signal).catch(() => {}).finally(() => held.delete(claim));
    held.add(claim);
  } catch {
    await pause(1000); // no server, or not registered: the next heartbeat sees to that
  }
}

async function drain() {
  if (draining) return;
  draining = true;
  await send('Deregister', { worker_id, drain: true }, 5).catch(() => {}); // no new tasks; heartbeats go on
  await Promise.race([Promise.all([...held].map((claim) => claim.done)), pause(DRAIN_MS)]);
  await send('Deregister', { worker_id }, 5).catch(() => {}); // others get what is left at once
  process.exit(0);
}

process.on('SIGTERM', drain);
await register();
await Promise.all([sendHeartbeats(), poll()]);
