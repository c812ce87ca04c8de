// SPDX-License-Identifier: GPL-2.0
/*
 * The environment of a measurement: host, tools, and the kernels with their configurations.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "env.h"
#include "parse.h"

/**
 * env_hash_file - compute a file's SHA-256
 * @path: the file
 *
 * Return: the hash as hexadecimal digits, to be freed; NULL with errno set when it cannot be read.
 */
char *env_hash_file(const char *path)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int n = 0, i;
	size_t len;
	char *text = read_file(path, &len), *hex;

	if (!text)
		return NULL;
	EVP_Digest(text, len, digest, &n, EVP_sha256(), NULL);
	free(text);
	hex = xrealloc(NULL, 2 * n + 1);
	for (i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	return hex;
}

/* The CPU's name; arm64 has only numbers for it. */
static char *cpu_model(void)
{
	static const char * const keys[] = { "model name\t: ", "CPU part\t: " };
	char *cpuinfo = read_file("/proc/cpuinfo", NULL), *model = NULL, *p;
	size_t i;

	for (i = 0; cpuinfo && !model && i < ARRAY_SIZE(keys); i++) {
		p = strstr(cpuinfo, keys[i]);
		if (!p)
			continue;
		p += strlen(keys[i]);
		model = xasprintf("%s%.*s", i ? "part " : "", (int)strcspn(p, "\n"), p);
	}
	free(cpuinfo);
	return model ? model : xstrdup("unknown");
}

/**
 * env_host - describe this machine
 *
 * Return: a new object.
 */
json_t *env_host(void)
{
	struct utsname uts;
	double load = -1;
	char *model = cpu_model();
	json_t *host;

	uname(&uts);
	if (getloadavg(&load, 1) != 1)
		load = -1;
	host = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:f}", "system", uts.sysname, "release",
			 uts.release, "machine", uts.machine, "cpu", model, "cpus",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "memory_mib",
			 (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) >> 20,
			 "load", load);
	free(model);
	return host;
}

/* The "Linux version" line, as it lies in the image. */
static char *image_banner(const char *path)
{
	static const char start[] = "Linux version ";
	size_t len, n;
	char *image = read_file(path, &len), *p, *banner = NULL;

	if (!image)
		return NULL;
	for (p = image; p && !banner; p++) {
		p = memmem(p, image + len - p, start, sizeof(start) - 1);
		if (!p)
			break;
		/* There is a format of the same beginning, too: its version is "%s". */
		n = strcspn(p, "\n");
		if (p[sizeof(start) - 1] >= '0' && p[sizeof(start) - 1] <= '9' && n < 1024)
			banner = xasprintf("%.*s", (int)n, p);
	}
	free(image);
	return banner;
}

/**
 * env_image - describe a kernel
 * @image: path of the Image; its config is the file "config" beside it, if there is one
 *
 * Return: a new object; NULL after an error was told.
 */
json_t *env_image(const char *image)
{
	char *hash = env_hash_file(image), *config, *config_hash, *banner, *version = NULL;
	char *compiler = NULL;
	const char *slash = strrchr(image, '/');
	json_t *obj;

	if (!hash) {
		bench_err("cannot read the kernel %s: %s; build it with 'make image', or name another",
			  image, strerror(errno));
		return NULL;
	}
	config = xasprintf("%.*sconfig", slash ? (int)(slash - image) + 1 : 0, image);
	config_hash = env_hash_file(config);
	banner = image_banner(image);
	if (!banner || !banner_split(banner, &version, &compiler)) {
		bench_err("%s is not an uncompressed kernel: it has no \"Linux version\" in it; give arch/arm64/boot/Image of a build",
			  image);
		obj = NULL;
	} else {
		obj = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?}", "path", image, "sha256", hash,
				"version", version, "compiler", compiler, "banner", banner,
				"config_sha256", config_hash);
	}
	free(version);
	free(compiler);
	free(banner);
	free(config_hash);
	free(config);
	free(hash);
	return obj;
}

/**
 * env_new - begin the record of an environment
 * @qemu: the program
 * @qemu_version: what it says of itself
 * @wall_method: WALL_PERF, WALL_OWN, or NULL when no wall time is taken
 *
 * Return: a new object.
 */
json_t *env_new(const char *qemu, const char *qemu_version, const char *wall_method)
{
	return json_pack("{s:o, s:{s:s, s:s}, s:s?, s:{}}", "host", env_host(), "qemu",
			 "path", qemu, "version", qemu_version, "wall", wall_method, "images");
}

/**
 * env_add_image - add a kernel to an environment
 * @env: the environment
 * @name: what it is called in the results
 * @image: from env_image(); consumed
 */
void env_add_image(json_t *env, const char *name, json_t *image)
{
	json_object_set_new(json_object_get(env, "images"), name, image);
}

/**
 * env_identity - what of an environment must not change in the middle of a measurement
 * @env: the environment
 *
 * Return: a new object for store_open(), to which the arguments can be added.
 */
json_t *env_identity(const json_t *env)
{
	json_t *host = json_object_get(env, "host"), *images = json_object(), *image;
	const char *name;

	json_object_foreach(json_object_get(env, "images"), name, image)
		json_object_set(images, name, json_object_get(image, "sha256"));
	return json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:o}", "CPU", json_object_get(host, "cpu"),
			 "host kernel", json_object_get(host, "release"), "QEMU",
			 json_object_get(json_object_get(env, "qemu"), "version"), "wall time by",
			 json_object_get(env, "wall"), "KVM", json_object_get(env, "kvm"), "initrd",
			 json_object_get(json_object_get(env, "initrd"), "sha256"), "images",
			 images);
}
