package dev.kagzi.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.ChildFailedException;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RetryAfterException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Code receives the same values in its first execution and in a replay: every kind of value, at
 * every place where a workflow receives one.
 */
@ExtendWith(KagziExtension.class)
class RecordedValuesTest {
  record Order(String item, int cents) {}

  record Box<T>(T content, Optional<String> label) {}

  enum Size {
    SMALL,
    LARGE {
      @Override
      int weight() {
        return 9;
      }
    };

    int weight() {
      return 1;
    }
  }

  static class Animal {
    public String name = "";
  }

  static class Dog extends Animal {
    public int barks;
  }

  sealed interface Shape {}

  record Circle(int radius) implements Shape {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
  interface Pay {}

  record Card(String number) implements Pay {}

  private record Kind(String name, TypeRef<?> type, Supplier<Object> made) {
    @SuppressWarnings("unchecked")
    TypeRef<Object> typed() {
      return (TypeRef<Object>) type;
    }
  }

  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00.123456789Z");

  private static Dog dog() {
    Dog dog = new Dog();
    dog.name = "rex";
    dog.barks = 3;
    return dog;
  }

  @SuppressWarnings({"rawtypes", "NullAway"})
  private static final List<Kind> KINDS =
      List.of(
          new Kind("raw-list", new TypeRef<List>() {}, () -> List.of(new Order("lamp", 1))),
          new Kind("list", new TypeRef<List<Order>>() {}, () -> List.of(new Order("lamp", 1))),
          new Kind("empty-list", new TypeRef<List<Order>>() {}, List::of),
          new Kind("collection", new TypeRef<Collection<Long>>() {}, () -> Set.of(1L)),
          new Kind("set", new TypeRef<Set<Size>>() {}, () -> Set.of(Size.LARGE)),
          new Kind("array", new TypeRef<Order[]>() {}, () -> new Order[] {new Order("lamp", 1)}),
          new Kind("record", new TypeRef<Order>() {}, () -> new Order("lamp", 1)),
          new Kind("generic-record", new TypeRef<Box<Order>>() {}, RecordedValuesTest::box),
          new Kind("raw-record", new TypeRef<Box>() {}, RecordedValuesTest::box),
          new Kind(
              "nested",
              new TypeRef<Map<String, List<Box<Order>>>>() {},
              () -> Map.of("a", List.of(box()))),
          new Kind("map", new TypeRef<Map<String, Order>>() {}, () -> Map.of("a", box().content())),
          new Kind("raw-map", new TypeRef<Map>() {}, () -> new TreeMap<>(Map.of(7, NOON))),
          new Kind("object", new TypeRef<Object>() {}, () -> new Order("lamp", 1)),
          new Kind("number", new TypeRef<Number>() {}, () -> 7L),
          new Kind("instant", new TypeRef<Instant>() {}, () -> NOON),
          new Kind("date", new TypeRef<LocalDate>() {}, () -> LocalDate.of(2026, 2, 3)),
          new Kind("duration", new TypeRef<Duration>() {}, () -> Duration.ofMillis(1_500)),
          new Kind("decimal", new TypeRef<BigDecimal>() {}, () -> new BigDecimal("1.10")),
          new Kind("double", new TypeRef<Double>() {}, () -> 0.1 + 0.2),
          new Kind("uuid", new TypeRef<UUID>() {}, () -> new UUID(1, 2)),
          new Kind("annotated", new TypeRef<Pay>() {}, () -> new Card("4111")),
          new Kind("sealed", new TypeRef<Shape>() {}, () -> new Circle(3)),
          new Kind("subclass", new TypeRef<Animal>() {}, RecordedValuesTest::dog),
          new Kind("null", new TypeRef<Order>() {}, () -> null),
          new Kind("void", new TypeRef<Void>() {}, () -> null),
          new Kind("optional", new TypeRef<Optional<Order>>() {}, () -> Optional.of(box().content)),
          new Kind("empty", new TypeRef<Optional<Order>>() {}, Optional::empty),
          new Kind("bytes", new TypeRef<byte[]>() {}, () -> new byte[] {0, -1, 7}),
          new Kind("enum", new TypeRef<Size>() {}, () -> Size.LARGE),
          new Kind("wrong", new TypeRef<Instant>() {}, () -> "not a time"));

  private static Box<Order> box() {
    return new Box<>(new Order("lamp", 1), Optional.of("blue"));
  }

  /** The values that the executions of each run received, in order: by run, then by place. */
  private final Map<String, Map<String, List<String>>> seen = new ConcurrentHashMap<>();

  /**
   * One execution of one run: records the values that it receives, then sleeps and is executed
   * again.
   */
  private final class Notes {
    private final WorkflowContext ctx;

    Notes(WorkflowContext ctx) {
      this.ctx = ctx;
    }

    void add(String place, Supplier<Object> receive) {
      String text;
      try {
        text = describe(receive.get());
      } catch (WorkFailedException e) {
        text = describe(e);
      }
      seen.computeIfAbsent(ctx.workflowId(), id -> new ConcurrentHashMap<>())
          .computeIfAbsent(place, key -> new CopyOnWriteArrayList<>())
          .add(text);
    }

    String end() {
      ctx.sleep("until replayed", Duration.ofDays(1));
      return "done";
    }
  }

  private static WorkflowType<Object, String> inputType(Kind kind) {
    return WorkflowType.of("in-" + kind.name, kind.typed(), new TypeRef<String>() {}).queue("q");
  }

  private static WorkflowType<String, Object> outputType(Kind kind) {
    return WorkflowType.of("out-" + kind.name, new TypeRef<String>() {}, kind.typed()).queue("q");
  }

  @Test
  void values_are_the_same_in_a_first_execution_and_in_a_replay(KagziEnv env) {
    var worker = env.worker("q");
    for (Kind kind : KINDS) {
      worker.workflow(outputType(kind), (ctx, name) -> kind.made.get());
      worker.workflow(
          inputType(kind),
          (ctx, input) -> {
            Notes notes = new Notes(ctx);
            notes.add("input", () -> input);
            notes.add("step", () -> ctx.step("v", kind.typed(), kind.made::get));
            notes.add("child", () -> ctx.child(outputType(kind)).run("c", ""));
            notes.add(
                "branch",
                () ->
                    ctx.parallel(
                        "p", List.of(1), (b, i) -> b.step("v", kind.typed(), kind.made::get)));
            notes.add(
                "race",
                () ->
                    ctx.race(
                        "r",
                        Branch.of("a", b -> b.step("v", kind.typed(), kind.made::get)),
                        Branch.of("b", b -> b.step("v", kind.typed(), kind.made::get))));
            return notes.end();
          });
    }
    worker.start();

    for (Kind kind : KINDS) {
      if (isReadable(kind)) {
        env.kagzi().workflow(inputType(kind)).id(kind.name).start(kind.made.get());
      }
    }

    List<String> readable =
        KINDS.stream().filter(RecordedValuesTest::isReadable).map(Kind::name).toList();
    replayAndCompare(env, readable);
    // A list without an element type contains maps from the first execution on.
    assertThat(first("raw-list", "step")).contains("LinkedHashMap").doesNotContain("Order");
    assertThat(first("list", "step")).contains("Order");
    assertThat(first("subclass", "step")).contains("Animal").doesNotContain("Dog");
    assertThat(first("bytes", "step")).isEqualTo("[B[Byte 0, Byte -1, Byte 7]");
  }

  private static boolean isReadable(Kind kind) {
    return !Set.of("sealed", "wrong").contains(kind.name);
  }

  @Test
  void a_result_that_is_not_of_its_declared_type_is_rejected_in_first_execution_and_replay(
      KagziEnv env) {
    WorkflowType<String, String> type =
        WorkflowType.of("refused", String.class, String.class).queue("q");
    List<Kind> refused = KINDS.stream().filter(kind -> !isReadable(kind)).toList();
    env.worker()
        .workflow(
            type,
            (ctx, input) -> {
              Notes notes = new Notes(ctx);
              for (Kind kind : refused) {
                notes.add(
                    kind.name + " step", () -> ctx.step(kind.name, kind.typed(), kind.made::get));
                notes.add(
                    kind.name + " branch",
                    () ->
                        ctx.parallel(
                            kind.name,
                            List.of(1),
                            (b, i) -> b.step("v", kind.typed(), kind.made::get)));
              }
              return notes.end();
            })
        .start();
    env.kagzi().workflow(type).id("refused").start("");

    replayAndCompare(env, List.of("refused"));

    assertThat(seenBy("refused")).hasSize(2 * refused.size());
    assertThat(seenBy("refused").values())
        .allSatisfy(
            texts ->
                assertThat(texts.getFirst())
                    .contains("FailedException", "PayloadException", "code=PAYLOAD_UNWRITABLE"));
  }

  /** An error that would otherwise first appear in a replay. */
  @Test
  void a_list_without_an_element_type_fails_in_the_first_execution(KagziEnv env) {
    WorkflowType<String, Integer> type =
        WorkflowType.of("raw", String.class, Integer.class).queue("q");
    env.worker().workflow(type, (ctx, input) -> cents(ctx)).start();

    RunHandle<Integer> run = env.kagzi().workflow(type).start("");

    KagziAssertions.assertThat(run).failedWith(ClassCastException.class).executedStep("a").once();
  }

  @SuppressWarnings("unchecked")
  private static int cents(WorkflowContext ctx) {
    List<Order> orders = ctx.step("a", List.class, () -> List.of(new Order("lamp", 1)));
    int cents = orders.getFirst().cents();
    ctx.sleep("nap", "1 day");
    return cents;
  }

  private static final Map<String, Supplier<Throwable>> FAILURES =
      Map.of(
          "plain", () -> new IllegalStateException("no"),
          "caused", () -> new IOException("a", new IllegalStateException("b", new Error("c"))),
          "silent", () -> new IllegalStateException((String) null),
          "strange", () -> new IllegalStateException("nul \0 line\n tab\t \ud800 ü 🎺"),
          "long", () -> new IllegalStateException("x".repeat(100_000)),
          "final", () -> new NonRetryableException("never", new IOException("why")),
          "later", () -> new RetryAfterException("later", Duration.ofSeconds(3)),
          "error", () -> new AssertionError("wrong"),
          "secret", () -> new IllegalStateException("card 4111"));

  @Test
  void failures_are_the_same_in_a_first_execution_and_in_a_replay(KagziEnv env) {
    WorkflowType<String, String> type =
        WorkflowType.of("failing", String.class, String.class).queue("q");
    WorkflowType<String, String> child =
        WorkflowType.of("failing-child", String.class, String.class).queue("q");
    env.worker()
        .errorSanitizer(failure -> failure.redacted(text -> text.replace("4111", "****")))
        .workflow(child, (ctx, name) -> fail(name))
        .workflow(
            type,
            (ctx, name) -> {
              Notes notes = new Notes(ctx);
              notes.add("step", () -> failingStep(ctx, name));
              notes.add("child", () -> ctx.child(child).run("c", name));
              notes.add(
                  "branch", () -> ctx.parallel("p", List.of(1), (b, i) -> failingStep(b, name)));
              notes.add("branch code", () -> ctx.parallel("q", List.of(1), (b, i) -> fail(name)));
              notes.add(
                  "branch child",
                  () -> ctx.parallel("k", List.of(1), (b, i) -> b.child(child).run("c", name)));
              notes.add(
                  "race",
                  () ->
                      ctx.race(
                          "r",
                          Branch.of("a", b -> failingStep(b, name)),
                          Branch.of("b", b -> failingStep(b, name))));
              notes.add(
                  "collected",
                  () -> ctx.parallel("s").collectAll(List.of(1), (b, i) -> failingStep(b, name)));
              return notes.end();
            })
        .start();

    FAILURES.keySet().forEach(name -> env.kagzi().workflow(type).id(name).start(name));

    replayAndCompare(env, FAILURES.keySet());
    assertThat(first("plain", "step")).startsWith(StepFailedException.class.getName());
    assertThat(first("plain", "child")).startsWith(ChildFailedException.class.getName());
    assertThat(first("caused", "branch")).contains("IllegalStateException: b");
    assertThat(seenBy("secret").values())
        .allSatisfy(texts -> assertThat(texts.getFirst()).contains("****"));
  }

  private static String failingStep(WorkflowContext ctx, String name) {
    return ctx.step("v").retry(Retry.none()).run(String.class, () -> fail(name));
  }

  private static String fail(String name) throws Exception {
    switch (FAILURES.getOrDefault(name, AssertionError::new).get()) {
      case Exception e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new AssertionError(e);
    }
  }

  private Map<String, List<String>> seenBy(String run) {
    return requireNonNull(seen.get(run), run);
  }

  private String first(String run, String place) {
    return requireNonNull(seenBy(run).get(place)).getFirst();
  }

  private void replayAndCompare(KagziEnv env, Collection<String> runs) {
    env.settle();
    env.advance(Duration.ofDays(2));

    for (String run : runs) {
      seenBy(run)
          .forEach(
              (place, texts) ->
                  assertThat(texts)
                      .as(run + " by " + place)
                      .hasSizeGreaterThanOrEqualTo(2)
                      .allSatisfy(text -> assertThat(text).isEqualTo(texts.getFirst())));
      assertThat(env.kagzi().list().workflowId(run).stream().toList())
          .as(run)
          .hasSize(1)
          .allSatisfy(info -> assertThat(info.status()).isEqualTo(RunStatus.COMPLETED));
    }
  }

  /** Returns the value with the classes that it consists of. */
  private static String describe(Object value) {
    return switch (value) {
      case null -> "null";
      case List<?> list -> name(list) + all(list, RecordedValuesTest::describe);
      case Set<?> set -> name(set) + all(set, RecordedValuesTest::describe);
      case Map<?, ?> map ->
          name(map) + all(map.entrySet(), e -> describe(e.getKey()) + "=" + describe(e.getValue()));
      case Box<?>(Object content, Optional<String> label) ->
          name(value) + "(" + describe(content) + ", " + describe(label) + ")";
      case Optional<?> optional -> "Optional(" + optional.map(RecordedValuesTest::describe) + ")";
      case Animal animal -> name(animal) + " " + animal.name;
      case BranchResult.Failed<?>(String branch, Throwable cause) ->
          branch + ": " + describe(cause);
      case Throwable thrown -> describe(thrown);
      case Object array when array.getClass().isArray() -> {
        List<Object> elements = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
          elements.add(Array.get(array, i));
        }
        yield name(array) + all(elements, RecordedValuesTest::describe);
      }
      default -> value.getClass().getSimpleName() + " " + value;
    };
  }

  private static String describe(Throwable thrown) {
    Failure failure = thrown instanceof WorkFailedException work ? work.failure() : null;
    return "%s: %s, failure %s %s, cause %s"
        .formatted(
            thrown.getClass().getName(),
            thrown.getMessage(),
            failure,
            failure == null ? "" : new TreeMap<>(failure.metadata()) + " " + failure.nonRetryable(),
            thrown.getCause() == null ? "none" : describe(thrown.getCause()));
  }

  private static String name(Object value) {
    return value.getClass().getName();
  }

  private static <T> String all(Collection<T> elements, Function<? super T, String> each) {
    return elements.stream().map(each).toList().toString();
  }
}
