package dev.kagzi.examples.docs;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.nio.file.Path;

/**
 * The code of docs/operating.md. It is compiled but not run, because it needs certificates and a
 * database that a build does not have. SecureServerTest and the test kit run similar code.
 */
final class OperatingDocs {
  private OperatingDocs() {}

  static Kagzi secured() {
    // docs: operating.md
    Kagzi kagzi =
        Kagzi.builder()
            .address("kagzi.example.org:50051")
            .tokenFile(Path.of("/run/secrets/kagzi-token"))
            .tlsCa(Path.of("ca.pem")) // tls() for authorities that the JVM knows
            .tlsClient(Path.of("client.pem"), Path.of("client-key.pem")) // mutual TLS
            .connect();
    // end
    return kagzi;
  }

  static void embedded(WorkflowType<String, String> type, Workflow<String, String> code)
      throws InterruptedException {
    // docs: operating.md
    ServerConfig config =
        ServerConfig.builder().dbUrl("postgres://kagzi@localhost/kagzi").inProcessOnly().build();
    try (KagziServer server = KagziServer.start(config);
        Kagzi kagzi = Kagzi.builder().inProcess(server.inProcessName()).connect();
        Worker worker = kagzi.worker().workflow(type, code).start()) {
      worker.awaitTermination();
    }
    // end
  }
}
