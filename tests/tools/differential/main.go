// Command differential answers what Kubernetes' own code makes of an input, so that a test can compare transship with it.
//
//	differential <mode> < requests > answers
//
// A request is as many fields as the mode needs. A field is its length in bytes, as four bytes in big-endian order, and
// the bytes. The answer to each request is one byte, '=' for a result and '!' for an error, and one field.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// mode is a kind of request.
type mode struct {
	// fields is how many fields a request has.
	fields int
	// answer returns the result of Kubernetes' code.
	answer func(fields [][]byte) ([]byte, error)
}

// modes lists all kinds of requests. To compare something else with Kubernetes, add a mode.
var modes = map[string]mode{
	"read":            {1, readDocuments},
	"write":           {1, writeYAML},
	"json-patch":      {2, jsonPatch},
	"merge-patch":     {2, mergePatch},
	"strategic-merge": {2, strategicMerge},
	"include":         {2, include},
	"rbac-covers":     {2, rbacCovers},
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("expected one argument, the mode"))
	}
	mode, known := modes[os.Args[1]]
	if !known {
		fail(fmt.Errorf("no mode is called %q", os.Args[1]))
	}
	if err := serve(mode, bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "differential:", err)
	os.Exit(1)
}

// serve answers all requests. It writes an answer out when no further request waits, so that a caller may send
// requests one by one or many at once.
func serve(mode mode, requests *bufio.Reader, answers *bufio.Writer) error {
	for {
		fields, err := readRequest(mode, requests)
		if err == io.EOF {
			return answers.Flush()
		}
		if err != nil {
			return err
		}
		status := byte('=')
		result, err := answerSafely(mode, fields)
		if err != nil {
			status, result = '!', []byte(err.Error())
		}
		if err := writeAnswer(answers, status, result); err != nil {
			return err
		}
		if requests.Buffered() == 0 {
			if err := answers.Flush(); err != nil {
				return err
			}
		}
	}
}

func readRequest(mode mode, requests io.Reader) ([][]byte, error) {
	fields := make([][]byte, mode.fields)
	for index := range fields {
		var length uint32
		if err := binary.Read(requests, binary.BigEndian, &length); err != nil {
			return nil, err
		}
		fields[index] = make([]byte, length)
		if _, err := io.ReadFull(requests, fields[index]); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// answerSafely returns a panic of Kubernetes' code as an error, because kubectl fails on it as well.
func answerSafely(mode mode, fields [][]byte) (result []byte, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return mode.answer(fields)
}

func writeAnswer(answers *bufio.Writer, status byte, result []byte) error {
	if err := answers.WriteByte(status); err != nil {
		return err
	}
	if err := binary.Write(answers, binary.BigEndian, uint32(len(result))); err != nil {
		return err
	}
	_, err := answers.Write(result)
	return err
}
