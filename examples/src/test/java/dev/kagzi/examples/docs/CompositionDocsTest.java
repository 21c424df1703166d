package dev.kagzi.examples.docs;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.AesGcmTransform;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchFunction;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.GzipTransform;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.WorkerInterceptor;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/composition.md. */
@ExtendWith(KagziExtension.class)
class CompositionDocsTest {
  record Order(List<String> items, int total) {}

  record Parcel(String item) {}

  record Price(int cents) {}

  record Receipt(String text) {}

  record Quote(String from) {
    static final Quote NONE = new Quote("nobody");
  }

  static final class Warehouse {
    Parcel pack(String item) {
      if (item.equals("glass")) {
        throw new NonRetryableException("broken");
      }
      return new Parcel(item);
    }

    int reserve(Order order) {
      return order.items().size();
    }

    Price quote(Order order) {
      return new Price(order.total());
    }
  }

  static final Warehouse warehouse = new Warehouse();
  static final Warehouse stock = warehouse;
  static final Warehouse prices = warehouse;
  static final List<String> done = new CopyOnWriteArrayList<>();

  static void ship(int reserved, Price price) {
    done.add("shipped " + reserved + " for " + price.cents());
  }

  static void ship(Parcel parcel) {
    done.add("shipped " + parcel.item());
  }

  static void refund(String branch, Throwable cause) {
    done.add("refunded " + branch + ": " + cause.getMessage());
  }

  static final WorkflowType<Order, Receipt> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, Receipt.class).queue("orders");
  static final WorkflowType<Integer, Receipt> PAY =
      WorkflowType.of("pay", Integer.class, Receipt.class).queue("orders");

  private static RunHandle<Receipt> start(KagziEnv env, Order order) {
    done.clear();
    return env.kagzi().workflow(PROCESS_ORDER).start(order);
  }

  // ---- parallel

  static Receipt parallel(WorkflowContext ctx, Order order) {
    // docs: composition.md
    List<Parcel> parcels =
        ctx.parallel(
            "pack",
            order.items(),
            (branch, item) -> branch.step("pack", Parcel.class, () -> warehouse.pack(item)));

    var both =
        ctx.parallel(
            "prepare",
            Branch.of("stock", b -> b.step("reserve", Integer.class, () -> stock.reserve(order))),
            Branch.of("price", b -> b.step("quote", Price.class, () -> prices.quote(order))));
    ship(both.first(), both.second());
    // end
    return new Receipt(parcels.toString());
  }

  @Test
  void parallel_returns_the_results_in_order(KagziEnv env) {
    env.worker().workflow(PROCESS_ORDER, CompositionDocsTest::parallel).start();

    RunHandle<Receipt> run = start(env, new Order(List.of("lamp", "book"), 7));

    assertThat(run)
        .completedWith(new Receipt("[Parcel[item=lamp], Parcel[item=book]]"))
        .executedStep("prepare[stock]/reserve")
        .once();
    assertThat(done).contains("shipped 2 for 7");
  }

  static Receipt collect(WorkflowContext ctx, Order order) {
    List<String> items = order.items();
    BranchFunction<String, Parcel> code =
        (branch, item) -> branch.step("pack", Parcel.class, () -> warehouse.pack(item));
    // docs: composition.md
    for (BranchResult<Parcel> each : ctx.parallel("pack").collectAll(items, code)) {
      switch (each) {
        case BranchResult.Done<Parcel> done -> ship(done.value());
        case BranchResult.Failed<Parcel> failed -> refund(failed.branch(), failed.cause());
      }
    }
    // end
    return new Receipt("");
  }

  @Test
  void collect_all_returns_each_result_or_failure(KagziEnv env) {
    env.worker().workflow(PROCESS_ORDER, CompositionDocsTest::collect).start();

    RunHandle<Receipt> run = start(env, new Order(List.of("lamp", "glass"), 7));

    assertThat(run).isCompleted();
    assertThat(done)
        .hasSize(2)
        .contains("shipped lamp")
        .anyMatch(each -> each.startsWith("refunded 1"));
  }

  // ---- race

  static final class Market {
    private final String name;

    Market(String name) {
      this.name = name;
    }

    Quote ask(Order order) {
      if (order.total() == 0) {
        throw new NonRetryableException("nothing to quote");
      }
      return new Quote(name);
    }
  }

  static final Market north = new Market("north");
  static final Market south = new Market("south");

  static Receipt race(WorkflowContext ctx, Order order) {
    // docs: composition.md
    Quote quote =
        ctx.race(
            "quote",
            Branch.of("north", b -> b.step("ask", Quote.class, () -> north.ask(order))),
            Branch.of("south", b -> b.step("ask", Quote.class, () -> south.ask(order))),
            Branch.of(
                "late",
                b -> {
                  b.sleep("patience", "30s");
                  return Quote.NONE;
                }));
    // end
    return new Receipt(quote.from());
  }

  @Test
  void the_first_branch_with_a_result_wins(KagziEnv env) {
    env.worker().workflow(PROCESS_ORDER, CompositionDocsTest::race).start();

    RunHandle<Receipt> quoted = start(env, new Order(List.of(), 7));
    RunHandle<Receipt> late = env.kagzi().workflow(PROCESS_ORDER).start(new Order(List.of(), 0));
    env.advance(Duration.ofMinutes(1));

    assertThat(quoted.result().text()).isIn("north", "south");
    assertThat(late).completedWith(new Receipt("nobody"));
  }

  // ---- children

  static Receipt children(WorkflowContext ctx, Order order) {
    // docs: composition.md
    ChildHandle<Receipt> payment = ctx.child(PAY).start("pay", order.total()); // does not wait
    int reserved = ctx.step("reserve", Integer.class, () -> stock.reserve(order));
    Receipt receipt = payment.result(); // does
    // end
    return new Receipt(reserved + ": " + receipt.text());
  }

  @Test
  void a_child_returns_its_result(KagziEnv env) {
    env.worker()
        .workflow(PROCESS_ORDER, CompositionDocsTest::children)
        .workflow(PAY, (ctx, cents) -> new Receipt("paid " + cents))
        .start();

    assertThat(start(env, new Order(List.of("lamp"), 7))).completedWith(new Receipt("1: paid 7"));
  }

  // ---- deterministic code

  static final class Flags {
    boolean isOn(String name) {
      return name.equals("fast-lane");
    }
  }

  static final Flags flags = new Flags();

  static Receipt repeatable(WorkflowContext ctx, Order order) {
    // docs: composition.md
    Instant now = ctx.now();
    UUID id = ctx.uuid();
    int group = ctx.random().nextInt(2);
    boolean fast = ctx.step("read-flag", Boolean.class, () -> flags.isOn("fast-lane"));
    ctx.sleepUntil("next-hour", now.truncatedTo(ChronoUnit.HOURS).plus(Duration.ofHours(1)));
    // end
    done.add(now + " " + id + " " + group + " " + fast);
    return new Receipt(now + " " + id + " " + group + " " + fast);
  }

  @Test
  void changing_values_are_the_same_in_every_execution(KagziEnv env) {
    env.worker().workflow(PROCESS_ORDER, CompositionDocsTest::repeatable).start();
    RunHandle<Receipt> run = start(env, new Order(List.of(), 0));

    env.advance(Duration.ofHours(2));

    assertThat(run).completedWith(new Receipt(done.getLast())).executedStep("read-flag").once();
    assertThat(done.getLast()).endsWith(" true");
  }

  // ---- versions

  static final class Orders {
    static Receipt processV1(WorkflowContext ctx, Order order) {
      return new Receipt("1");
    }

    static Receipt process(WorkflowContext ctx, Order order) {
      ctx.step("pack", () -> {});
      return new Receipt("2");
    }
  }

  // docs: composition.md
  static final WorkflowType<Order, Receipt> V1 = PROCESS_ORDER.version("1");
  static final WorkflowType<Order, Receipt> V2 = PROCESS_ORDER.version("2");

  static void serveBoth(Kagzi kagzi) {
    kagzi.worker("orders").workflow(V1, Orders::processV1).workflow(V2, Orders::process).start();
  }

  // end

  @Test
  void a_run_stays_with_its_version(KagziEnv env) {
    serveBoth(env.kagzi());

    assertThat(env.kagzi().workflow(V1).start(new Order(List.of(), 0)))
        .completedWith(new Receipt("1"));
    assertThat(env.kagzi().workflow(V2).start(new Order(List.of(), 0)))
        .completedWith(new Receipt("2"));
  }

  // ---- interceptors

  static final class Tracer {
    Span start(String name) {
      return new Span(name);
    }
  }

  record Span(String name) implements AutoCloseable {
    @Override
    public void close() {
      done.add("traced " + name);
    }
  }

  static final Tracer tracer = new Tracer();

  @SuppressWarnings("try") // close() ends the span
  static void intercept(Kagzi kagzi) {
    // docs: composition.md
    kagzi
        .worker("orders")
        .workflow(PROCESS_ORDER, Orders::process)
        .interceptor(
            new WorkerInterceptor() {
              @Override
              public Object step(StepContext step, Callable<Object> next) throws Exception {
                try (var span = tracer.start(step.workflowType() + "/" + step.name())) {
                  return next.call();
                }
              }
            })
        .start();
    // end
  }

  @Test
  void an_interceptor_wraps_each_step(KagziEnv env) {
    intercept(env.kagzi());

    RunHandle<Receipt> run = start(env, new Order(List.of("lamp"), 7));

    assertThat(run).isCompleted();
    assertThat(done).contains("traced process-order/pack");
  }

  // ---- payloads

  static Kagzi encrypted(String address, byte[] key) {
    // docs: composition.md
    Kagzi kagzi =
        Kagzi.builder()
            .address(address)
            .codec(
                new JacksonCodec().then(new GzipTransform(), new AesGcmTransform("2026-01", key)))
            .connect();
    // end
    return kagzi;
  }
}
