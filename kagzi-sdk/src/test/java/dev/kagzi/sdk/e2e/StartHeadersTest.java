package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.kagzi.sdk.ClientInterceptor;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Headers of a start: who may set them, and where they can be read. */
class StartHeadersTest extends RealServerTest {
  private static String text(Map<String, String> headers) {
    return new TreeMap<>(headers).toString();
  }

  private static String read(WorkflowContext ctx) {
    return ctx.step("read").execute(String.class, step -> text(step.headers()))
        + " "
        + text(ctx.headers());
  }

  @Test
  void they_can_be_read_in_the_workflow_in_its_steps_and_from_the_client() {
    kagzi.worker().workflow(type, (ctx, name) -> read(ctx)).start();

    RunHandle<String> run =
        kagzi.workflow(type).header("tenant", "old").headers(Map.of("tenant", "acme")).start("");

    assertThat(run.result(SOON)).isEqualTo("{tenant=acme} {tenant=acme}");
    assertThat(run.info().headers()).isEqualTo(Map.of("tenant", "acme"));
    assertThat(kagzi.workflow(type).start("").result(SOON)).isEqualTo("{} {}");
  }

  @Test
  void every_start_of_a_bulk_has_them() {
    kagzi.worker().workflow(type, (ctx, name) -> read(ctx)).start();

    List<RunHandle<String>> runs =
        kagzi.workflow(type).header("tenant", "acme").startAll(List.of("a", "b", "c"));

    assertThat(runs)
        .extracting(run -> run.result(SOON))
        .containsOnly("{tenant=acme} {tenant=acme}");
  }

  @Test
  void an_interceptor_of_starts_reads_and_changes_them() {
    List<String> seen = new CopyOnWriteArrayList<>();
    ClientInterceptor adds =
        (start, next) -> {
          seen.add(text(start.headers()));
          start.headers().put("region", "eu");
          CompletableFuture<String> answer = next.get();
          return answer;
        };
    kagzi.worker().workflow(type, (ctx, name) -> read(ctx)).start();
    try (Kagzi other =
        Kagzi.builder().address(server.address()).interceptor(adds).interceptor(adds).connect()) {
      RunHandle<String> run = other.workflow(type).header("tenant", "acme").start("");

      assertThat(run.result(SOON)).isEqualTo("{region=eu, tenant=acme} {region=eu, tenant=acme}");
    }
    assertThat(seen).containsExactly("{tenant=acme}", "{region=eu, tenant=acme}");
  }

  @Test
  void a_child_has_those_of_its_parent_and_its_own() {
    WorkflowType<String, String> child =
        WorkflowType.of("child", String.class, String.class).queue(queue);
    kagzi
        .worker()
        .workflow(type, (ctx, name) -> ctx.child(child).header("region", "us").run("child", name))
        .workflow(child, (ctx, name) -> read(ctx))
        .start();

    RunHandle<String> run =
        kagzi.workflow(type).headers(Map.of("tenant", "acme", "region", "eu")).start("");

    assertThat(run.result(SOON)).isEqualTo("{region=us, tenant=acme} {region=us, tenant=acme}");
  }

  @Test
  void a_second_start_with_the_same_id_does_not_change_them() {
    RunHandle<String> first = kagzi.workflow(type).id("same").header("tenant", "acme").start("");
    RunHandle<String> second = kagzi.workflow(type).id("same").header("tenant", "blue").start("");

    assertThat(second.runId()).isEqualTo(first.runId());
    assertThat(second.info().headers()).isEqualTo(Map.of("tenant", "acme"));
  }

  @Test
  void names_and_sizes_that_the_server_does_not_accept_are_refused() {
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> kagzi.workflow(type).header("no name", "x").start(""))
        .withMessageContaining("headers name: no name");
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> kagzi.workflow(type).header("large", "x".repeat(16_380)).start(""))
        .withMessageContaining("headers: 16385 bytes (expected: at most 16384 bytes in all)");
  }

  private Kagzi traced() {
    return Kagzi.builder()
        .address(server.address())
        .openTelemetry(
            OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder().build())
                .build())
        .connect();
  }

  private static Map<String, String> headers(int count) {
    return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> "h" + i, i -> "x"));
  }

  @Test
  void tracing_makes_no_start_invalid_that_is_valid_without_it() {
    WorkflowType<String, String> child =
        WorkflowType.of("child", String.class, String.class).queue(queue);
    Context baggage =
        Context.root().with(Baggage.builder().put("tenant", "x".repeat(6_000)).build());
    Scope scope = baggage.makeCurrent();
    try (Kagzi traced = traced()) {
      traced
          .worker()
          .workflow(type, (ctx, name) -> ctx.child(child).run("child", name))
          .workflow(child, (ctx, name) -> ctx.headers().size() + "")
          .start();

      assertThat(names(traced.workflow(type).headers(headers(63)).start("")))
          .hasSize(64)
          .contains("traceparent")
          .doesNotContain("baggage");
      assertThat(names(traced.workflow(type).headers(headers(64)).start("")))
          .hasSize(64)
          .doesNotContain("traceparent");
      assertThat(names(traced.workflow(type).header("large", "x".repeat(12_000)).start("")))
          .containsExactlyInAnyOrder("large", "traceparent");
      assertThat(names(traced.workflow(type).header("large", "x".repeat(16_379)).start("")))
          .containsExactly("large");
      assertThat(names(traced.workflow(type).header("small", "x").start("")))
          .containsExactlyInAnyOrder("small", "traceparent", "baggage");
    } finally {
      scope.close();
    }
  }

  /** Returns the names of the run's headers, after its child has ended, too. */
  private static Set<String> names(RunHandle<String> run) {
    Set<String> names = run.info().headers().keySet();
    assertThat(run.result(SOON)).isEqualTo(names.size() + "");
    return names;
  }
}
