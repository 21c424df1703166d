package dev.kagzi.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

/** The dependencies between the server's packages. */
@AnalyzeClasses(packages = "dev.kagzi.server", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule the_edges_touch_no_database =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.kagzi.server.grpc..", "dev.kagzi.server.http..", "dev.kagzi.server.web..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.sql..",
              "javax.sql..",
              "org.postgresql..",
              "com.zaxxer..",
              "dev.kagzi.postgres..");

  @ArchTest
  static final ArchRule only_public_packages_of_the_engine_are_used =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.kagzi.engine.internal..");

  @ArchTest
  static final ArchRule the_server_does_not_know_the_sdk =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.kagzi.sdk..");

  @ArchTest
  static final ArchRule only_the_grpc_edge_speaks_the_protocol =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.kagzi.server.grpc..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.kagzi.protocol..", "io.grpc..", "com.google.protobuf..");

  @ArchTest
  static final ArchRule only_the_http_edge_speaks_http =
      noClasses()
          .that()
          .resideOutsideOfPackages("dev.kagzi.server.http..", "dev.kagzi.server.web")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.javalin..", "jakarta.servlet..", "org.eclipse.jetty..");

  @ArchTest
  static final ArchRule packages_have_no_cycles =
      slices().matching("dev.kagzi.server.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule platform_threads_are_started_by_the_engine_s_class_for_it =
      noClasses().should().callCodeUnitWhere(startsPlatformThreads());

  private static DescribedPredicate<JavaCall<?>> startsPlatformThreads() {
    Set<String> makers =
        Set.of(
            Thread.class.getName(),
            Timer.class.getName(),
            ForkJoinPool.class.getName(),
            ThreadPoolExecutor.class.getName(),
            ScheduledThreadPoolExecutor.class.getName());
    return DescribedPredicate.describe(
        "starts platform threads",
        call -> {
          String owner = call.getTargetOwner().getName();
          String name = call.getName();
          return switch (name) {
            case "<init>" -> makers.contains(owner);
            case "ofPlatform" -> owner.equals(Thread.class.getName());
            case "newVirtualThreadPerTaskExecutor" -> false;
            default -> owner.equals(Executors.class.getName());
          };
        });
  }

  @ArchTest
  static final ArchRule endpoints_are_not_public =
      classes().that().haveSimpleNameEndingWith("Endpoint").should().bePackagePrivate();
}
