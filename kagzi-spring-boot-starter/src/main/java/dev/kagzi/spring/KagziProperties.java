package dev.kagzi.spring;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code kagzi.*}.
 *
 * @param address Host and port of the server; several servers of one database are separated by
 *     commas
 * @param namespace Namespace that the application works in
 * @param token Token that the server was started with
 * @param tokenFile File whose first line is the token
 * @param callTimeout How long a call may take, including its retries
 * @param startTimeout How long the start of the application waits for a server before it fails; 0
 *     starts without a server, and workers connect when there is one
 * @param tracesPerSecondMax How many traces begin per second at most, if the application has an
 *     OpenTelemetry bean; starts below a current span are always in its trace
 */
@ConfigurationProperties("kagzi")
public record KagziProperties(
    @DefaultValue("localhost:50051") String address,
    @DefaultValue("default") String namespace,
    @Nullable String token,
    @Nullable Path tokenFile,
    @DefaultValue("10s") Duration callTimeout,
    @DefaultValue("10s") Duration startTimeout,
    @DefaultValue("100") int tracesPerSecondMax,
    @DefaultValue Tls tls,
    @DefaultValue Worker worker,
    @DefaultValue Outbox outbox) {

  /**
   * The outbox in the application's database.
   *
   * @param enabled Whether the application sends its outbox; the table kagzi_outbox must exist
   * @param interval Time between two queries while the outbox is empty
   */
  public record Outbox(
      @DefaultValue("false") boolean enabled, @DefaultValue("100ms") Duration interval) {}

  /**
   * Encryption of the connection.
   *
   * @param enabled Whether the connection is encrypted; also on if one of the files is set
   * @param ca File with the certificates of your own authorities (PEM); the JVM's by default
   * @param cert File with the client's certificate and its chain (PEM), for mutual TLS
   * @param key File with the private key of the client's certificate (PEM, PKCS#8)
   */
  public record Tls(
      @DefaultValue("false") boolean enabled,
      @Nullable Path ca,
      @Nullable Path cert,
      @Nullable Path key) {

    public Tls {
      if ((cert == null) != (key == null)) {
        throw new IllegalArgumentException(
            "kagzi.tls.cert: %s, kagzi.tls.key: %s (expected: both or none)".formatted(cert, key));
      }
    }
  }

  /**
   * The workers of the application.
   *
   * @param enabled Whether the application executes runs; without it, it only starts them
   * @param queues Queues that the application serves; by default those of all its workflows
   * @param maxConcurrent How many runs are executed at the same time on each queue
   * @param labels Labels that are displayed with the workers
   * @param version Version of the deployment that is displayed with the workers
   * @param drainTimeout How long a shutdown waits for running workflows before it releases them to
   *     other workers; less than spring.lifecycle.timeout-per-shutdown-phase
   */
  public record Worker(
      @DefaultValue("true") boolean enabled,
      @DefaultValue List<String> queues,
      @DefaultValue("100") int maxConcurrent,
      @DefaultValue Map<String, String> labels,
      @Nullable String version,
      @DefaultValue("25s") Duration drainTimeout) {

    public Worker {
      queues = List.copyOf(queues);
      labels = Map.copyOf(labels);
    }
  }

  /** Without the token. */
  @Override
  public String toString() {
    return "KagziProperties[address=%s, namespace=%s]".formatted(address, namespace);
  }
}
