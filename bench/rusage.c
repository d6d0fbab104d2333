/*
 * rusage OUTPUT PROGRAM [ARGUMENT]...
 *
 * Runs PROGRAM and writes to OUTPUT, as one line of JSON, what it and all of its finished descendants cost: wall time from
 * before the fork until after the wait (monotonic clock), user and system time, and the largest resident size that any
 * single process among them had. Ends with PROGRAM's status.
 *
 * A program of its own because Node does not show a child's resource usage, and small because the kernel counts what a
 * process had resident before its exec: a child forked from the benchmark itself would be charged for the benchmark.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long microseconds(struct timeval t) { return t.tv_sec * 1000000LL + t.tv_usec; }

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage used;
	int status, code;

	if (argc < 3) {
		fprintf(stderr, "usage: rusage OUTPUT PROGRAM [ARGUMENT]...\n");
		return 125;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid_t child = fork();
	if (child < 0) {
		perror("rusage: fork");
		return 125;
	}
	if (child == 0) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "rusage: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR) {
			perror("rusage: waitpid");
			return 125;
		}
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_CHILDREN, &used);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

	FILE *output = fopen(argv[1], "w");
	if (!output) {
		perror(argv[1]);
		return 125;
	}
	fprintf(output,
		"{\"wallUs\":%lld,\"userUs\":%lld,\"systemUs\":%lld,\"maxRssBytes\":%lld,\"status\":%d,"
		"\"majorFaults\":%ld,\"minorFaults\":%ld,\"voluntarySwitches\":%ld,\"involuntarySwitches\":%ld}\n",
		(end.tv_sec - start.tv_sec) * 1000000LL + (end.tv_nsec - start.tv_nsec) / 1000,
		microseconds(used.ru_utime), microseconds(used.ru_stime), used.ru_maxrss * 1024LL, code,
		used.ru_majflt, used.ru_minflt, used.ru_nvcsw, used.ru_nivcsw);
	if (fclose(output) != 0) {
		perror(argv[1]);
		return 125;
	}
	return code;
}
